"""The few helpers that generated code calls, where shapes aren't known when compiling.

`adjoints` have the shape, dtype and memory that they need; `lists` and `objects` hold them.
`apart` refuses what shares memory with what is written, `checks` values for which nothing was
generated; `calls` may fail, or change what they are given. `products`, `scattering` and `buffering`
are about time. `saved` checks what a saved gradient is given: `Gradient.save` copies the source of
those that it uses, so they import NumPy alone.
"""

import inspect

from .adjoints import as_dtype as as_dtype
from .adjoints import filled_like as filled_like
from .adjoints import finished as finished
from .adjoints import given as given
from .adjoints import last_written as last_written
from .adjoints import own_copy as own_copy
from .adjoints import own_zeros as own_zeros
from .adjoints import project as project
from .adjoints import shape_if_any as shape_if_any
from .adjoints import stop_gradient as stop_gradient
from .adjoints import total as total
from .adjoints import unbroadcast as unbroadcast
from .adjoints import unbroadcast_to as unbroadcast_to
from .adjoints import unless_zero as unless_zero
from .adjoints import zero_like as zero_like
from .apart import OTHER_NAMES as OTHER_NAMES
from .apart import OVERLAP as OVERLAP
from .apart import READS_WRITTEN as READS_WRITTEN
from .apart import RESHAPE as RESHAPE
from .apart import WRITE_COPY as WRITE_COPY
from .apart import check_apart as check_apart
from .apart import check_arrays_apart as check_arrays_apart
from .apart import check_containers_apart as check_containers_apart
from .apart import check_different as check_different
from .apart import check_direction as check_direction
from .apart import check_fresh as check_fresh
from .apart import check_items_unread as check_items_unread
from .apart import check_listed_once as check_listed_once
from .apart import check_not_held as check_not_held
from .apart import check_once as check_once
from .apart import check_other_list as check_other_list
from .apart import check_sole as check_sole
from .apart import check_unread as check_unread
from .buffering import small_buffers as small_buffers
from .calls import fails as fails
from .calls import failure as failure
from .calls import forbid as forbid
from .calls import permit as permit
from .calls import print_items as print_items
from .calls import unwritten as unwritten
from .calls import writable as writable
from .checks import ABSENT as ABSENT
from .checks import BY_MEMORY as BY_MEMORY
from .checks import TOO_NESTED as TOO_NESTED
from .checks import UNBOUND as UNBOUND
from .checks import augmented as augmented
from .checks import check_added as check_added
from .checks import check_as_written as check_as_written
from .checks import check_attribute as check_attribute
from .checks import check_bound as check_bound
from .checks import check_broadcast as check_broadcast
from .checks import check_by_rows as check_by_rows
from .checks import check_call as check_call
from .checks import check_finite as check_finite
from .checks import check_first as check_first
from .checks import check_floats as check_floats
from .checks import check_given as check_given
from .checks import check_nested as check_nested
from .checks import check_number as check_number
from .checks import check_power as check_power
from .checks import check_stored as check_stored
from .checks import check_unwritten as check_unwritten
from .checks import check_whole_power as check_whole_power
from .checks import of_type as of_type
from .checks import stored as stored
from .lists import add_items as add_items
from .lists import add_nested as add_nested
from .lists import as_numbers as as_numbers
from .lists import boxed as boxed
from .lists import copied_items as copied_items
from .lists import drop_imaginary as drop_imaginary
from .lists import fresh_items as fresh_items
from .lists import items_of as items_of
from .lists import items_of_again as items_of_again
from .lists import listed as listed
from .lists import nested_tangents as nested_tangents
from .lists import order as order
from .lists import put_back as put_back
from .lists import reorder as reorder
from .lists import restore_order as restore_order
from .lists import zero_items as zero_items
from .objects import attributes as attributes
from .objects import has_attributes as has_attributes
from .objects import held_by as held_by
from .objects import identity as identity
from .objects import like_records as like_records
from .objects import make_dict as make_dict
from .objects import make_list as make_list
from .objects import make_object as make_object
from .objects import make_tuple as make_tuple
from .objects import put_attributes as put_attributes
from .objects import records as records
from .objects import structured as structured
from .objects import tuple_of as tuple_of
from .products import cross_product as cross_product
from .products import padded_product as padded_product
from .products import sum_of_products as sum_of_products
from .products import weighted_sum as weighted_sum
from .scattering import add_at as add_at
from .scattering import subtract_at as subtract_at

HELPERS = frozenset(filter(inspect.isfunction, [*globals().values()]))
