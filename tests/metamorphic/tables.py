"""The tables: expressions and statements, each with others that mean the same."""

from __future__ import annotations

from tests.metamorphic.patterns import Table


class Operators(Table):
    """Arithmetic by functions, and rearranged.

    A + B -> operator.add(A, B)
    A + B -> np.add(A, B) | out: float/array
    A + B -> B + A | out: float/array
    A + B -> A - (-B) | out: float/array
    A + B -> A.__add__(B) | A: array
    A + B -> sum((A, B)) | out: float/array
    A + B -> functools.reduce(operator.add, [A, B]) | out: float/array
    A + B -> np.sum([A, B]) | A: float, B: float
    A + B -> np.array([A, B]).sum(axis=0) | A: float, B: float
    A - B -> operator.sub(A, B)
    A - B -> np.subtract(A, B) | out: float/array
    A - B -> A + -B | out: float/array
    A - B -> -(B - A) | out: float/array
    A - B -> -B + A | out: float/array
    A - B -> np.diff([B, A])[0] | A: float, B: float
    A * B -> operator.mul(A, B)
    A * B -> np.multiply(A, B) | out: float/array
    A * B -> B * A | out: float/array
    A * B -> math.prod((A, B)) | out: float
    A * B -> np.prod([A, B]) | A: float, B: float
    A * B -> np.einsum("i,i->i", A, B) | A: array1, B: array1
    A * B -> np.einsum("ij,ij->ij", A, B) | A: array2, B: array2
    A * B -> A.__mul__(B) | A: array
    A * B -> np.array([p_ * q_ for p_, q_ in zip(A, B)]) | A: array1, B: array1
    A / B -> operator.truediv(A, B)
    A / B -> np.divide(A, B) | out: float/array
    A / B -> A * (1 / B) | out: float/array
    A / B -> A * B**-1 | B: float
    A / B -> np.true_divide(A, B) | out: array
    A**2 -> A * A | A: float/array
    A**2 -> np.square(A) | A: float/array
    A**2 -> pow(A, 2)
    A**2 -> np.power(A, 2.0) | A: float/array
    A**2 -> math.pow(A, 2) | A: float
    A**2 -> operator.pow(A, 2)
    A**3 -> A * A * A | A: float/array
    A**B -> np.power(A, B) | out: float/array
    A**B -> operator.pow(A, B)
    -A -> operator.neg(A)
    -A -> np.negative(A) | A: float/array
    -A -> 0 - A
    -A -> -1 * A
    -A -> A * -1.0 | A: float/array
    A // B -> operator.floordiv(A, B)
    A // B -> divmod(A, B)[0]
    A // B -> int(A / B) | A: int, B: int
    A % B -> operator.mod(A, B)
    A % B -> divmod(A, B)[1]
    abs(A) -> (A if A > 0 else -A) | A: float
    abs(A) -> max(A, -A) | A: float
    np.abs(A) -> abs(A)
    max(A, B) -> (A if A > B else B) | A: float, B: float
    max(A, B) -> sorted((A, B))[-1] | A: float, B: float
    max(A, B) -> max([A, B]) | A: float, B: float
    max(A, B) -> -min(-A, -B) | A: float, B: float
    min(A, B) -> (A if A < B else B) | A: float, B: float
    min(A, B) -> sorted([A, B])[0] | A: float, B: float
    np.maximum(A, B) -> np.where(A > B, A, B) | out: array
    np.maximum(A, B) -> max(A, B) | A: float, B: float
    np.maximum(A, B) -> np.fmax(A, B)
    np.minimum(A, B) -> -np.maximum(-A, -B)
    """

    name, weight = "operators", 2.0


class Comparisons(Table):
    """Tests and choices.

    A < B -> B > A
    A < B -> operator.lt(A, B)
    A < B -> np.less(A, B)
    A < B -> not A >= B | out: bool
    A < B -> A - B < 0 | A: float, B: float
    A < B -> not (B <= A) | out: bool
    A > B -> B < A
    A > B -> operator.gt(A, B)
    A > B -> np.greater(A, B)
    A > B -> not A <= B | out: bool
    A > B -> bool(A > B) | out: bool
    A > B -> (True if A > B else False) | out: bool
    A > B -> bool(np.sign(A - B) == 1) | A: float, B: float
    A <= B -> not B < A | out: bool
    A >= B -> not A < B | out: bool
    A == B -> not A != B | out: bool
    A == B -> operator.eq(A, B)
    not A -> operator.not_(A)
    not A -> (False if A else True)
    A and B -> (B if A else A)
    A and B -> all((A, B)) | A: bool, B: bool
    A or B -> any([A, B]) | A: bool, B: bool
    A or B -> (A if A else B)
    A if B else C -> (C if not B else A)
    A if B else C -> (lambda: A)() if B else (lambda: C)()
    A if B else C -> {True: lambda: A, False: lambda: C}[bool(B)]()
    A if B else C -> [C, A][bool(B)]
    A if B else C -> ((lambda: C), (lambda: A))[int(bool(B))]()
    A if B else C -> float(np.where(B, A, C)) | A: float, C: float
    A if B else C -> next(v_ for c_, v_ in ((B, A), (True, C)) if c_)
    A if B else C -> (B and [A] or [C])[0]
    """

    name = "comparisons"


class Reductions(Table):
    """Sums, products of matrices, and functions of NumPy spelled otherwise.

    np.sum(A) -> A.sum() | A: array
    np.sum(A) -> np.add.reduce(A, axis=None) | A: array
    np.sum(A) -> sum(A.ravel()) | A: array
    np.sum(A) -> sum(A) | A: array1
    np.sum(A) -> sum(A.tolist()) | A: array1
    np.sum(A) -> math.fsum(A) | A: array1
    np.sum(A) -> np.cumsum(A)[-1] | A: array
    np.sum(A) -> np.mean(A) * A.size | A: array
    np.sum(A) -> functools.reduce(operator.add, A.ravel(), 0.0) | A: array
    np.sum(A) -> np.einsum("i->", A) | A: array1
    np.sum(A) -> np.einsum("ij->", A) | A: array2
    np.sum(A) -> np.ones(A.size) @ A.ravel() | A: array
    np.sum(A) -> np.dot(A, np.ones(len(A))) | A: array1
    np.sum(A) -> np.sum(np.sum(A, axis=0)) | A: array2
    np.sum(A) -> sum(sum(r_) for r_ in A) | A: array2
    np.sum(A) -> sum(v_ for r_ in A for v_ in r_) | A: array2
    np.sum(A) -> sum(A[i_] for i_ in range(len(A))) | A: array1
    np.sum(A) -> sum(map(float, A)) | A: array1
    np.sum(A) -> sum(v_ for v_ in np.nditer(A)) | A: array
    np.sum(A) -> sum(A[i_] for i_ in np.ndindex(A.shape)) | A: array
    np.sum(A, axis=0) -> A.sum(axis=0) | A: array
    np.sum(A, axis=0) -> np.add.reduce(A) | A: array2
    np.sum(A, axis=0) -> sum(A) | A: array2
    np.sum(A, axis=0) -> np.sum(A.T, axis=-1) | A: array2
    np.sum(A, axis=1) -> np.array([np.sum(r_) for r_ in A]) | A: array2
    np.sum(A, axis=1) -> A @ np.ones(A.shape[1]) | A: array2
    np.mean(A) -> A.mean() | A: array
    np.mean(A) -> np.sum(A) / A.size | A: array
    np.mean(A) -> np.average(A) | A: array
    np.mean(A) -> sum(A.ravel()) / A.size | A: array
    A.sum() -> np.sum(A) | A: array
    A.mean() -> np.mean(A) | A: array
    A @ B -> np.matmul(A, B)
    A @ B -> np.dot(A, B)
    A @ B -> A.dot(B) | A: array
    A @ B -> operator.matmul(A, B)
    A @ B -> np.tensordot(A, B, 1) | A: array2, B: array2
    A @ B -> np.einsum("ij,jk->ik", A, B) | A: array2, B: array2
    A @ B -> np.einsum("ij,j->i", A, B) | A: array2, B: array1
    A @ B -> np.einsum("i,ij->j", A, B) | A: array1, B: array2
    A @ B -> np.einsum("i,i->", A, B) | A: array1, B: array1
    A @ B -> np.sum(A * B) | A: array1, B: array1
    A @ B -> (A * B).sum() | A: array1, B: array1
    A @ B -> sum(p_ * q_ for p_, q_ in zip(A, B)) | A: array1, B: array1
    A @ B -> np.sum(A * B, axis=1) | A: array2, B: array1
    A @ B -> np.array([r_ @ B for r_ in A]) | A: array2, B: array1
    A @ B -> sum(A[:, k_] * B[k_] for k_ in range(len(B))) | A: array2, B: array1
    A @ B -> (B.T @ A.T).T | A: array2, B: array2
    A @ B -> np.stack([A @ c_ for c_ in B.T], axis=1) | A: array2, B: array2
    A @ B -> np.matmul(A, B, out=np.empty((len(A), B.shape[1]))) | A: array2, B: array2
    np.dot(A, B) -> A @ B | A: array, B: array
    np.dot(A, B) -> np.inner(A, B) | A: array1, B: array1
    np.dot(A, B) -> np.vdot(A, B) | A: array1, B: array1
    np.dot(A, B) -> sum(map(operator.mul, A, B)) | A: array1, B: array1
    np.outer(A, B) -> A[:, None] * B | A: array1, B: array1
    np.outer(A, B) -> np.multiply.outer(A, B) | A: array1, B: array1
    np.outer(A, B) -> np.einsum("i,j->ij", A, B) | A: array1, B: array1
    np.linalg.norm(A) -> np.sqrt(np.sum(A * A)) | A: array
    np.linalg.norm(A) -> np.sqrt(A @ A) | A: array1
    np.linalg.norm(A) -> math.sqrt(sum(v_ * v_ for v_ in A)) | A: array1
    np.linalg.norm(A) -> math.hypot(*A) | A: array1
    np.linalg.inv(A) -> np.linalg.solve(A, np.eye(len(A))) | A: array2
    np.linalg.solve(A, B) -> np.linalg.inv(A) @ B | A: array2, B: array
    np.exp(A) -> math.exp(A) | A: float
    np.exp(A) -> np.array([math.exp(v_) for v_ in A]) | A: array1
    np.exp(A) -> np.exp(A, out=np.empty_like(A)) | A: array
    np.sqrt(A) -> math.sqrt(A) | A: float
    np.sqrt(A) -> A**0.5 | A: float/array
    np.log(A) -> math.log(A) | A: float
    np.log(A) -> -np.log(1 / A) | A: array
    np.sin(A) -> math.sin(A) | A: float
    np.cos(A) -> np.sin(A + np.pi / 2) | A: float/array
    np.tanh(A) -> np.sinh(A) / np.cosh(A) | A: float/array
    np.tanh(A) -> math.tanh(A) | A: float
    np.tanh(A) -> np.array([*map(np.tanh, A)]) | A: array1/array2
    np.max(A) -> A.max() | A: array
    np.max(A) -> max(A) | A: array1
    np.max(A) -> functools.reduce(max, A) | A: array1
    np.max(A) -> np.sort(A)[-1] | A: array1
    np.max(A) -> A[np.argmax(A)] | A: array1
    np.max(A) -> max(map(max, A)) | A: array2
    np.where(A, B, C) -> np.where(~A, C, B)
    np.cumsum(A) -> np.array(list(itertools.accumulate(A))) | A: array1
    np.cumsum(A) -> np.add.accumulate(A) | A: array1
    np.diff(A) -> A[1:] - A[:-1] | A: array1
    np.linspace(A, B, C) -> A + (B - A) * np.arange(C) / (C - 1)
    np.trace(A) -> np.sum(np.diag(A)) | A: array2
    np.trace(A) -> sum(A[i_, i_] for i_ in range(len(A))) | A: array2
    np.eye(A) -> np.diag(np.ones(A))
    np.ones(A) -> np.zeros(A) + 1.0
    sum(A) -> functools.reduce(operator.add, A, 0)
    sum(A) -> sum(list(A))
    sum(A) -> np.sum(list(A)) | out: float
    sum(A) -> math.fsum(A) | out: float
    sum(A) -> sum([*A][::-1]) | out: float/array
    np.array(A) -> np.asarray(A) | A: list
    np.array(A) -> np.stack(A) | A: list, out: array2
    np.array(A) -> np.array(tuple(A)) | A: list
    np.array(A) -> np.fromiter(A, float) | A: list, out: array1
    np.array(A) -> np.array([*A]) | A: list
    """

    name, weight = "reductions", 2.0


class Wrappings(Table):
    """A value by way of something else that holds it.

    A -> float(A) | A: float
    A -> (A,)[0] | A: float/array
    A -> [A][-1] | A: float/array
    A -> {"v": A}["v"] | A: float/array
    A -> types.SimpleNamespace(v=A).v | A: float/array
    A -> (lambda v_: v_)(A) | A: float/array
    A -> next(iter((A,))) | A: float/array
    A -> functools.partial(lambda v_: v_, A)() | A: float/array
    A -> operator.itemgetter(1)((0, A)) | A: float/array
    A -> dict(v=A).pop("v") | A: float/array
    A -> [A].pop() | A: float/array
    A -> (A if True else 0.0) | A: float
    A -> (A or A) | A: float
    A -> np.float64(A) | A: float
    A -> np.asarray(A)[()] | A: float
    A -> np.array(A).item() | A: float
    A -> np.array([A])[0] | A: float
    A -> np.array([[A]]).item() | A: float
    A -> np.full((), A)[()] | A: float
    A -> np.full(3, A).mean() | A: float
    A -> sum([A]) | A: float
    A -> complex(A).real | A: float
    A -> copy.copy(A) | A: float/array
    A -> max(A, A - 1.0) | A: float
    A -> math.fsum([A]) | A: float
    A -> operator.pos(A) | A: float/array
    A -> A[...] | A: array
    A -> A[:] | A: array
    A -> A.view() | A: array
    A -> A.copy() | A: array
    A -> A.T.T | A: array
    A -> A[::-1][::-1] | A: array
    A -> np.asarray(A) | A: array
    A -> A.reshape(A.shape) | A: array
    A -> A.ravel().reshape(A.shape) | A: array
    A -> np.broadcast_to(A, A.shape) | A: array
    A -> np.concatenate([A]) | A: array
    A -> np.stack([A, A])[1] | A: array
    A -> np.array(list(A)) | A: array
    A -> np.array(A.tolist()) | A: array
    A -> np.array([v_ for v_ in A]) | A: array
    A -> A.astype(float) | A: array
    A -> A[None][0] | A: array
    A -> np.squeeze(A[None], 0) | A: array
    A -> np.asfortranarray(A) | A: array
    A -> np.ascontiguousarray(A) | A: array
    A -> A.real | A: array
    A -> np.where(True, A, 0.0) | A: array
    A -> np.roll(np.roll(A, 1), -1) | A: array1
    A -> np.flip(np.flip(A)) | A: array
    A -> np.tile(A, 1) | A: array
    A -> np.pad(A, 1)[1:-1] | A: array1
    A -> np.pad(A, 1)[1:-1, 1:-1] | A: array2
    A -> np.einsum("...->...", A) | A: array
    A -> A.take(range(len(A)), axis=0) | A: array
    A -> A[np.arange(len(A))] | A: array
    A -> A[np.ones(len(A), dtype=bool)] | A: array
    A -> A.swapaxes(0, -1).swapaxes(0, -1) | A: array
    A -> np.fromiter(A, float) | A: array1
    A -> np.append(A[:1], A[1:]) | A: array1
    A -> np.delete(np.insert(A, 0, 0.0), 0) | A: array1
    A -> np.block([A]) | A: array1
    A -> np.vstack((A[:1], A[1:])) | A: array2
    A -> np.repeat(A, 2, axis=0)[::2] | A: array
    A -> np.apply_along_axis(lambda v_: v_, 0, A) | A: array
    A -> np.array([*map(np.array, A)]) | A: array2
    A -> np.concatenate([A[i_ : i_ + 1] for i_ in range(len(A))]) | A: array
    A -> list(A) | A: list
    A -> A[:] | A: list/tuple
    A -> [*A] | A: list
    A -> A[::-1][::-1] | A: list/tuple
    A -> list(reversed(A))[::-1] | A: list
    A -> (*A,) | A: tuple
    A -> {**A} | A: dict
    A -> dict(A.items()) | A: dict
    A -> dict(zip(A.keys(), A.values())) | A: dict
    A -> int(A) | A: int
    A -> operator.index(A) | A: int
    A -> np.int64(A) | A: int
    """

    name, weight = "wrappings", 2.5


class Indexing(Table):
    """Reads of elements and slices.

    A[I] -> A[I, ...] | A: array2/array3/array4, I: int
    A[I] -> A.__getitem__(I)
    A[I] -> operator.getitem(A, I)
    A[I] -> operator.itemgetter(I)(A)
    A[I] -> A[(I,)] | A: array
    A[I] -> A[I - len(A)] | A: array/list, I: int
    A[I] -> np.take(A, I, axis=0) | A: array, I: int
    A[I] -> A[[I]][0] | A: array, I: int
    A[I] -> A[I:][0] | A: array/list, I: int
    A[I] -> A[: I + 1][-1] | A: array/list, I: int
    A[I] -> A[::-1][-1 - I] | A: array/list, I: int
    A[I] -> A.item(I) | A: array1, I: int
    A[I] -> float(A[I]) | out: float
    A[I] -> A[I : I + 1].sum() | A: array1, I: int
    A[I] -> A.tolist()[I] | A: array1, I: int
    A[I] -> A.flat[I] | A: array1, I: int
    A[I] -> list(A)[I] | A: array1/array2, I: int
    A[I] -> (A @ np.eye(len(A)))[I] | A: array1
    A[I] -> np.where(np.arange(len(A)) == I, A, 0.0).sum() | A: array1, I: int
    A[I] -> next(itertools.islice(A, I, None)) | A: array1/array2/list, I: int
    A[I] -> A.get(I) | A: dict
    A[I] -> A[np.int64(I)] | A: array, I: int
    A[I, J] -> A[I][J] | A: array, I: int
    A[I, J] -> A[(I, J)] | A: array
    A[I, J] -> A.T[J, I] | A: array2
    A[I, J] -> A[I, :][J] | A: array2, I: int
    A[I, J] -> A[:, J][I] | A: array2, J: int
    A[I, J] -> A.item(I, J) | A: array2, I: int, J: int
    A[I, J] -> A.ravel()[I * A.shape[1] + J] | A: array2, I: int, J: int
    A[I, J] -> A.reshape(-1)[np.ravel_multi_index((I, J), A.shape)] | A: array2, I: int, J: int
    A[I, J] -> A.flat[I * A.shape[1] + J] | A: array2, I: int, J: int
    A[I, J] -> A.tolist()[I][J] | A: array2, I: int, J: int
    A[I, J] -> A[I : I + 1, J : J + 1].item() | A: array2, I: int, J: int
    A[I, J] -> A[[I], [J]][0] | A: array2, I: int, J: int
    A[I, J] -> operator.getitem(A, (I, J)) | A: array
    A[I:J] -> A[slice(I, J)]
    A[I:J] -> A[I:J, ...] | A: array
    A[I:J] -> A[I:][: J - I] | A: array
    A[I:J] -> A[:J][I:] | A: array
    A[I:J] -> A[range(I, J)] | A: array
    A[I:J] -> A[np.arange(I, J)] | A: array
    A[I:J] -> np.array([A[k_] for k_ in range(I, J)]) | A: array
    A[I:] -> A[slice(I, None)]
    A[I:] -> A[I : len(A)]
    A[I:] -> A[range(I, len(A))] | A: array
    A[I:] -> np.delete(A, range(I), axis=0) | A: array
    A[I:] -> np.split(A, [I])[1] | A: array
    A[1:] -> A[::-1][:-1][::-1]
    A[:I] -> A[slice(I)]
    A[:I] -> A[0:I]
    A[:I] -> np.split(A, [I])[0] | A: array
    A[:-1] -> A[: len(A) - 1]
    A[:, I] -> A.T[I] | A: array2
    A[:, I] -> A[..., I] | A: array2
    A[:, I] -> A[slice(None), I]
    A[:, I] -> np.take(A, I, axis=1) | A: array2
    A[:, I] -> np.array([r_[I] for r_ in A]) | A: array2, I: int
    A[I, :] -> A[I] | A: array
    A[I, J:K] -> A[I][J:K] | A: array, I: int
    A[I, J:] -> A[I][J:] | A: array, I: int
    A[I:J, K] -> A[:, K][I:J] | A: array, K: int
    A[1:-1, 1:-1] -> A[1:-1][:, 1:-1]
    A[1:-1, 1:-1] -> A[slice(1, -1), slice(1, -1)]
    A[1:-1, 1:-1] -> A.T[1:-1, 1:-1].T
    A[1:-1, 1:-1] -> A[(slice(1, -1),) * 2]
    A.T -> np.transpose(A)
    A.T -> A.transpose() | A: array
    A.T -> np.swapaxes(A, 0, 1) | A: array2
    A.T -> np.array([*zip(*A)]) | A: array2
    A.shape[0] -> len(A)
    A.shape[0] -> np.shape(A)[0]
    A.shape -> np.shape(A)
    len(A) -> A.shape[0] | A: array
    len(A) -> A.__len__()
    len(A) -> sum(1 for _ in A)
    A[:, None] -> A[:, np.newaxis]
    A[:, None] -> A.reshape(-1, 1) | A: array1
    A[:, None] -> np.expand_dims(A, 1) | A: array1
    """

    name, weight = "indexing", 2.0


class Making(Table):
    """Arrays made with another layout, or in another way.

    np.zeros(N) -> np.zeros(2 * N)[::2] | N: int
    np.zeros(N) -> np.zeros(N)[::-1] | N: int
    np.zeros(N) -> np.zeros((N, 3))[:, 1] | N: int
    np.zeros(N) -> np.zeros((3, N))[-1] | N: int
    np.zeros(N) -> np.zeros(N + 2)[1:-1] | N: int
    np.zeros(N) -> np.zeros(3 * N).reshape(3, N)[1] | N: int
    np.zeros(N) -> np.array([0.0] * N) | N: int
    np.zeros(N) -> np.full(N, 0.0) | N: int
    np.zeros(N) -> np.zeros((1, N)).squeeze(0) | N: int
    np.zeros(N) -> np.ones(N) * 0.0 | N: int
    np.zeros(N) -> np.array([0.0 for _ in range(N)]) | N: int
    np.zeros(N) -> np.zeros(N[::-1]).T | N: tuple
    np.zeros((M, N)) -> np.zeros((N, M)).T
    np.zeros((M, N)) -> np.zeros((M, N), order="F")
    np.zeros((M, N)) -> np.zeros((M, N, 2))[:, :, 0]
    np.zeros((M, N)) -> np.zeros((2, M, N))[1]
    np.zeros((M, N)) -> np.zeros((2 * M, N))[::2]
    np.zeros((M, N)) -> np.zeros((M, N))[::-1]
    np.zeros((M, N)) -> np.zeros((M, N))[:, ::-1]
    np.zeros((M, N)) -> np.zeros((M + 2, N + 2))[1:-1, 1:-1]
    np.zeros((M, N)) -> np.zeros(M * N).reshape(M, N)
    np.zeros((M, N)) -> np.zeros(M * N).reshape(M, N, order="F")
    np.zeros((M, N)) -> np.array([[0.0] * N for _ in range(M)])
    np.zeros((M, N)) -> np.zeros((M, 1)) + np.zeros(N)
    np.zeros_like(A) -> np.zeros(A.shape) | A: array
    np.zeros_like(A) -> np.zeros(A.shape[::-1]).T | A: array
    np.zeros_like(A) -> A * 0.0 | A: array
    np.zeros_like(A) -> np.zeros_like(A, order="F") | A: array
    np.zeros_like(A) -> np.full_like(A, 0.0) | A: array
    np.empty(N) -> np.zeros(N)
    np.empty_like(A) -> np.full_like(A, 7.0) | A: array
    A.copy() -> np.array(A) | A: array
    A.copy() -> np.copy(A) | A: array
    A.copy() -> copy.deepcopy(A) | A: array
    A.copy() -> A.copy(order="F") | A: array
    A.copy() -> A.T.copy().T | A: array
    A.copy() -> A[::-1].copy()[::-1] | A: array
    A.copy() -> A * 1.0 | A: array
    A.copy() -> A + np.zeros_like(A) | A: array
    A.copy() -> A | A: array
    np.arange(N) -> np.array(range(N)) | N: int
    np.arange(N) -> np.array([*range(N)]) | N: int
    """

    name, weight = "making", 2.0


class Ranges(Table):
    """What is looped over, made in other ways.

    range(N) -> list(range(N))
    range(N) -> tuple(range(N))
    range(N) -> np.arange(N)
    range(N) -> range(0, N, 1)
    range(N) -> reversed(range(N - 1, -1, -1))
    range(N) -> (k_ for k_ in range(N))
    range(N) -> [k_ for k_ in range(N)]
    range(N) -> map(int, range(N))
    range(N) -> iter(range(N))
    range(N) -> range(N)[:]
    range(N) -> sorted(range(N), reverse=True)[::-1]
    range(N) -> itertools.islice(itertools.count(), N)
    range(N) -> itertools.takewhile(lambda k_: k_ < N, itertools.count())
    range(N) -> itertools.chain(range(N // 2), range(N // 2, N))
    range(N) -> (p_[0] for p_ in enumerate(range(N)))
    range(N) -> filter(lambda k_: k_ < N, range(N))
    range(N) -> itertools.accumulate(itertools.chain((0,), itertools.repeat(1, N - 1)))
    range(N) -> dict.fromkeys(range(N))
    range(N) -> (k_ for (k_,) in np.ndindex(N))
    range(M, N) -> list(range(M, N))
    range(M, N) -> np.arange(M, N)
    range(M, N) -> range(N)[M:]
    range(M, N) -> (k_ + M for k_ in range(N - M))
    range(M, N) -> map(lambda k_: k_ + M, range(N - M))
    range(M, N) -> reversed(range(N - 1, M - 1, -1))
    range(M, N) -> itertools.islice(itertools.count(M), N - M)
    range(M, N) -> itertools.islice(range(N), M, None)
    range(M, N) -> itertools.dropwhile(lambda k_: k_ < M, range(N))
    range(M, N, K) -> list(range(M, N, K))
    range(M, N, -1) -> reversed(range(N + 1, M + 1))
    range(M, N, -1) -> range(N + 1, M + 1)[::-1]
    range(M, N, -1) -> (M - k_ for k_ in range(M - N))
    reversed(A) -> [*A][::-1]
    reversed(A) -> list(reversed(list(A)))
    enumerate(A) -> zip(range(len(A)), A)
    enumerate(A) -> zip(itertools.count(), A)
    enumerate(A) -> [(k_, A[k_]) for k_ in range(len(A))]
    enumerate(A) -> ((k_ - 1, v_) for k_, v_ in enumerate(A, 1))
    zip(A, B, strict=True) -> zip(A, B)
    zip(A, B, strict=True) -> list(zip(A, B))
    zip(A, B, strict=True) -> [(A[k_], B[k_]) for k_ in range(len(A))]
    zip(A, B, strict=True) -> map(lambda p_, q_: (p_, q_), A, B)
    zip(A, B, strict=True) -> ((q_, r_) for p_, r_ in zip(A, B) for q_ in [p_])
    itertools.pairwise(A) -> zip(A[:-1], A[1:]) | A: list/array
    A.items() -> [(k_, A[k_]) for k_ in A] | A: dict
    A.items() -> list(A.items()) | A: dict
    A.items() -> zip(A.keys(), A.values()) | A: dict
    A.values() -> (A[k_] for k_ in A) | A: dict
    A.values() -> list(A.values()) | A: dict
    A.values() -> map(A.__getitem__, A) | A: dict
    """

    name, weight = "ranges", 2.0


class Statements(Table):
    """Assignments, and writes into arrays and lists.

    X += Y -> np.add(X, Y, out=X) | X: array
    X += Y -> X[...] = X + Y | X: array
    X += Y -> X[:] += Y | X: array
    X += Y -> X = X + Y | X: array/float
    X += Y -> X = operator.iadd(X, Y) | X: array/float
    X += Y -> np.copyto(X, X + Y) | X: array
    X += Y -> X -= -(Y) | X: array/float
    X += Y -> X.__iadd__(Y) | X: array
    X += Y -> X.T[...] += np.transpose(Y) | X: array2
    X += Y -> X = sum([X, Y]) | X: float
    X += Y -> for term_ in (Y,): X += term_ | X: float
    X -= Y -> np.subtract(X, Y, out=X) | X: array
    X -= Y -> X = X - Y | X: array/float
    X -= Y -> X += -(Y) | X: array/float
    X -= Y -> np.subtract(X, Y, X) | X: array
    X *= Y -> np.multiply(X, Y, out=X) | X: array
    X *= Y -> X[:] = X * Y | X: array
    X *= Y -> X[...] *= Y | X: array
    X *= Y -> X = X * Y | X: array/float
    X /= Y -> np.divide(X, Y, out=X) | X: array
    X /= Y -> X = X / Y | X: array/float
    X[I] += Y -> X[I] = X[I] + Y | X: array/list/dict
    X[I] += Y -> np.add.at(X, I, Y) | X: array, I: int
    X[I] += Y -> view_ = X[I];; view_ += Y | X: array2/array3, I: int
    X[I] += Y -> X[I] -= -(Y) | X: array/list
    X[I] += Y -> X[I : I + 1] += Y | X: array1, I: int
    X[I] += Y -> view_ = X[I:];; view_[0] += Y | X: array, I: int
    X[I] += Y -> key_ = I;; X[key_] += Y
    X[I] += Y -> X += np.where(np.arange(len(X)) == I, Y, 0.0) | X: array1, I: int
    X[I:J] += Y -> X[I:J] = X[I:J] + Y | X: array
    X[I:J] += Y -> np.add(X[I:J], Y, out=X[I:J]) | X: array
    X[I:J] += Y -> part_ = X[I:J];; part_ += Y | X: array
    X[I:J] -= Y -> part_ = X[I:];; part_[: J - I] -= Y | X: array
    X[I:J] = Y -> part_ = X[I:J];; part_[:] = Y | X: array
    X[I:J] = Y -> for k_ in range(I, J): X[k_] = (Y)[k_ - I] | X: array, Y: array
    X[I:J] *= Y -> np.multiply(X[I:J], Y, X[I:J]) | X: array
    X[1:-1, 1:-1] += Y -> inner_ = X[1:-1, 1:-1];; inner_ += Y | X: array
    X[1:-1, 1:-1] += Y -> X[1:-1, 1:-1] = X[1:-1, 1:-1] + Y | X: array
    X[I, J] += Y -> X[I, J] = X[I, J] + Y | X: array
    X[I, J] += Y -> row_ = X[I];; row_[J] += Y | X: array, I: int
    X[I, J] += Y -> np.add.at(X, (I, J), Y) | X: array2
    X[I, J] += Y -> X.T[J, I] += Y | X: array2
    X = X + Y -> X += Y | X: array/float
    X = X * Y -> X *= Y | X: array/float
    X = X - Y -> X -= Y | X: array/float
    X = Y -> X = np.empty_like(Y);; X[...] = Y | Y: array
    X = Y -> np.copyto(X, Y) | X: array, Y: array
    X = Y -> X[...] = Y | X: array, Y: array
    X = Y -> X[:] = Y | X: array, Y: array
    X = Y -> (X) = again_ = Y
    X = Y -> X: object = Y | X: a Name
    X = Y -> (X, rest_) = (Y, None)
    X = Y -> [X] = [Y]
    X = Y -> (X, *rest_) = (Y, 1, 2)
    X = Y -> for X in (Y,): pass
    X = Y -> with contextlib.nullcontext(Y) as X: pass
    X = Y -> X = None;; X = Y
    X = Y -> value_ = Y;; X = value_;; del value_
    X[I] = Y -> X.__setitem__(I, Y)
    X[I] = Y -> operator.setitem(X, I, Y)
    X[I] = Y -> np.copyto(X[I], Y) | X: array2/array3, I: int
    X[I] = Y -> X[I][...] = Y | X: array2/array3, I: int
    X[I] = Y -> X[I, ...] = Y | X: array
    X[I] = Y -> X[I : I + 1] = Y | X: array, I: int
    X[I] = Y -> view_ = X[I:];; view_[0] = Y | X: array, I: int
    X[I] = Y -> np.put(X, I, Y) | X: array1, I: int
    X[I] = Y -> X.flat[I] = Y | X: array1, I: int
    X[I] = Y -> X[[I]] = Y | X: array, I: int
    X[I] = Y -> view_ = X[::-1];; view_[-1 - I] = Y | X: array, I: int
    X[I] = Y -> X[np.arange(len(X)) == I] = Y | X: array, I: int
    X[I] = Y -> X[...] = np.where(np.arange(len(X)) == I, Y, X) | X: array1, I: int
    X[I] = Y -> X[I] = 0.0;; X[I] += Y | X: array, I: int
    X[I] = Y -> X.update({I: Y}) | X: dict
    X[I] = Y -> value_ = Y;; X[I] = value_
    X[I] = Y -> other_ = X;; other_[I] = Y
    X[I, J] = Y -> row_ = X[I];; row_[J] = Y | X: array, I: int
    X[I, J] = Y -> column_ = X[:, J];; column_[I] = Y | X: array2, J: int
    X[I, J] = Y -> X[I][J] = Y | X: array, I: int
    X[I, J] = Y -> X.T[J, I] = Y | X: array2
    X[I, J] = Y -> X[(I, J)] = Y | X: array
    X[I, J] = Y -> X.reshape(-1)[I * X.shape[1] + J] = Y | X: array2, I: int, J: int
    X[I, J] = Y -> X.flat[I * X.shape[1] + J] = Y | X: array2, I: int, J: int
    X[I, J] = Y -> index_ = I, J;; X[index_] = Y | X: array
    X[1:-1] = Y -> np.copyto(X[1:-1], Y) | X: array
    X[1:-1] = Y -> inner_ = X[1:-1];; inner_[:] = Y | X: array
    X[1:-1, 1:-1] = Y -> inner_ = X[1:-1, 1:-1];; inner_[...] = Y | X: array
    X[1:-1, 1:-1] = Y -> np.copyto(X[1:-1, 1:-1], Y) | X: array
    X[:, I] = Y -> X.T[I] = Y | X: array2
    X[:, I] = Y -> X[..., I] = Y | X: array
    X[0, :] = Y -> X[0] = Y | X: array
    X.append(Y) -> X += [Y] | X: list
    X.append(Y) -> X.extend([Y]) | X: list
    X.append(Y) -> X[len(X) :] = [Y] | X: list
    X.append(Y) -> X.insert(len(X), Y) | X: list
    X.append(Y) -> X.extend(v_ for v_ in (Y,)) | X: list
    X.append(Y) -> add_ = X.append;; add_(Y) | X: list
    A, B = Y -> pair_ = Y;; A = pair_[0];; B = pair_[1]
    A, B = Y -> A, B = list(Y)
    A, B = Y -> (A, (B,)) = ((lambda p_, q_: (p_, (q_,)))(*Y))
    A, B = B, A -> held_ = A;; A = B;; B = held_
    return A -> result_ = A;; return result_
    return A -> return (lambda: A)()
    return A -> with np.errstate(all="ignore"): return A
    return A -> try:\\n    return A\\nfinally:\\n    pass
    return A -> try:\\n    result_ = A\\nexcept ValueError:\\n    raise\\nelse:\\n    return result_
    return A -> while True:\\n    return A
    return A -> for _ in (0,):\\n    return A
    return A -> if (result_ := A) is not None: return result_
    assert A -> if not A: raise AssertionError
    """

    name, weight = "statements", 3.0


class Members(Table):
    """Attributes and methods in other ways: of objects, whose kind is `object`.

    A(B) -> A(*(B,)) | A: callable
    A(B, C) -> A(*[B, C]) | A: callable
    A(B, C) -> functools.partial(A, B)(C) | A: callable
    A(B, C) -> (lambda *args_: A(*args_))(B, C) | A: callable
    A(B, C, D) -> A(*(B, C), D) | A: callable
    A(B, C, D) -> functools.partial(A, B, C)(D) | A: callable
    A(B, C, D) -> (lambda q_, r_: A(B, q_, r_))(C, D) | A: callable
    A(B, C, D) -> A(B, *[C, D]) | A: callable
    A(B) -> (lambda v_: A(v_))(B) | A: callable
    A(B) -> next(map(A, [B])) | A: callable
    A(B) -> [A(v_) for v_ in [B]][0] | A: callable
    A(B) -> {"f": A}["f"](B) | A: callable
    """

    name = "members"
