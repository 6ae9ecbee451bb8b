"""The three tapes against finite differences, the formulas of a textbook, and srcgrad."""

from __future__ import annotations

import math
import operator
import random

import numpy as np
import pytest

import srcgrad
from benchmarks.tapes import operation_list as ol
from benchmarks.tapes import tensor_graph as tg
from benchmarks.tapes.draw import draw
from benchmarks.tapes.scalar_graph import MLP, Layer, Neuron, Value
from benchmarks.tapes.tensor_graph import Tensor

XOR_X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR_Y = np.array([[0.0], [1.0], [1.0], [0.0]])


def differences(f, args, i, step=1e-6):
    """The gradient of the number ``f(*args)`` by args[i], from central differences."""
    args = [np.array(a, float) for a in args]
    gradient = np.zeros(args[i].shape)
    for index in np.ndindex(args[i].shape):
        x = args[i][index]
        args[i][index] = x + step
        above = f(*args)
        args[i][index] = x - step
        below = f(*args)
        args[i][index] = x
        gradient[index] = (above - below) / (2 * step)
    return gradient


def normal(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).normal(size=shape)


def positive(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).uniform(0.5, 2.0, shape)


class TestScalarGraph:
    @pytest.mark.parametrize(
        ("f", "numbers"),
        [
            (lambda a, b: a + b, (2.0, -3.0)),
            (lambda a, b: a - b, (2.0, -3.0)),
            (lambda a, b: a * b, (2.0, -3.0)),
            (lambda a, b: a / b, (2.0, -3.0)),
            (lambda a, b: a // b, (7.3, 2.0)),
            (lambda a, b: a % b, (7.3, 2.1)),
            (lambda a, b: a % b, (-7.3, 2.1)),
            (lambda a, b: a**b, (1.7, -2.3)),
            (lambda a: a**3, (-1.5,)),
            (lambda a: a**-2, (-1.5,)),
            (lambda a: a**0.5, (2.5,)),
            (lambda a: 2**a, (1.3,)),
            (lambda a: 0.0**a, (1.3,)),
            (lambda a: -a, (1.3,)),
            (lambda a: +a, (1.3,)),
            (abs, (1.3,)),
            (abs, (-1.3,)),
            (lambda a: a * a + a / (a + 1) - a, (0.7,)),
        ],
    )
    def test_operators_against_differences(self, f, numbers):
        values = [Value(x) for x in numbers]
        out = f(*values)
        assert out.data == f(*numbers)
        out.backward()
        for i, value in enumerate(values):
            assert value.grad == pytest.approx(differences(f, numbers, i).item(), abs=1e-8)

    @pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
    @pytest.mark.parametrize(
        "number", [5, 2.5, np.float64(2.5), np.float32(2.5), np.int64(5), True]
    )
    def test_numbers_on_either_side(self, op, number):
        op, plain = getattr(operator, op), float(number)
        sides = [
            (lambda x: op(x, number), lambda x: op(x.item(), plain)),
            (lambda x: op(number, x), lambda x: op(plain, x.item())),
        ]
        for recorded, expected in sides:
            x = Value(1.75)
            out = recorded(x)
            assert isinstance(out, Value)
            assert out.data == expected(np.asarray(1.75))
            out.backward()
            assert x.grad == pytest.approx(differences(expected, (1.75,), 0).item(), abs=1e-7)

    @pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
    def test_what_is_not_a_number_is_refused(self, op):
        with pytest.raises(TypeError):
            getattr(operator, op)(Value(1.0), "one")
        with pytest.raises(TypeError):
            getattr(operator, op)(None, Value(1.0))

    @pytest.mark.parametrize(
        ("name", "formula", "slope"),
        [
            ("tanh", math.tanh, lambda x: 1 / math.cosh(x) ** 2),
            ("exp", math.exp, math.exp),
            ("log", math.log, lambda x: 1 / x),
            ("relu", lambda x: x, lambda x: 1.0),
        ],
    )
    def test_functions_against_formulas(self, name, formula, slope):
        for number in (0.3, 1.0, 2.7):
            x = Value(number)
            out = getattr(x, name)()
            assert out.data == formula(number)
            out.backward()
            assert x.grad == pytest.approx(slope(number), rel=1e-14)

    def test_relu_left_of_zero_and_at_it(self):
        for number, slope in ((-1.0, 0.0), (0.0, 0.5)):
            x = Value(number)
            out = x.relu()
            out.backward()
            assert (out.data, x.grad) == (0.0, slope)

    @pytest.mark.parametrize("number", [0.0, -1.0, math.nan])
    def test_log_takes_a_positive_value(self, number):
        with pytest.raises(ValueError, match="positive"):
            Value(number).log()

    def test_powers_at_zero(self):
        for exponent, slope in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (0.5, math.inf)):
            x = Value(0.0)
            (x**exponent).backward()
            assert x.grad == slope

    def test_power_that_is_not_real(self):
        with pytest.raises(ValueError, match="not real"):
            Value(-2.0) ** 0.5

    def test_sanity_check_of_micrograd(self):
        x = Value(-4.0)
        z = 2 * x + 2 + x
        q = z.relu() + z * x
        h = (z * z).relu()
        y = h + q + q * x
        y.backward()
        assert (y.data, x.grad) == (-20.0, 46.0)

    def test_a_value_used_often(self):
        x = Value(3.0)
        y = x * x
        (y + y * y).backward()
        assert x.grad == 2 * 3 + 4 * 3**3

    def test_leaves_accumulate_and_computed_values_do_not(self):
        x = Value(3.0)
        y = x * x
        z = y * y
        z.backward()
        z.backward()
        assert (x.grad, y.grad, z.grad) == (2 * 4 * 3**3, 2 * 9, 1)
        x.grad = 0.0
        z.backward()
        assert x.grad == 4 * 3**3

    def test_a_leaf_is_its_own_gradient(self):
        x = Value(3.0)
        x.backward()
        assert x.grad == 1.0

    def test_chain_of_100_000(self):
        x = Value(1.0)
        y = x
        for _ in range(100_000):
            y = y + 1
        y.backward()
        assert (y.data, x.grad) == (100_001.0, 1.0)
        del y  # freeing the chain must not overflow the stack of C either

    def test_repr(self):
        assert repr(Value(2.0)) == "Value(data=2.0, grad=0.0)"

    def test_modules(self):
        rng = random.Random(0)
        neuron = Neuron(2, rng=rng)
        w1, w2, b = neuron.parameters()
        out = neuron([0.5, -2.0])
        assert out.data == math.tanh(b.data + 0.5 * w1.data - 2.0 * w2.data)
        out.backward()
        slope = 1 - out.data**2
        assert [p.grad for p in (w1, w2, b)] == pytest.approx([0.5 * slope, -2 * slope, slope])
        assert len(Layer(3, 2, rng=rng).parameters()) == 2 * (3 + 1)
        mlp = MLP(3, [4, 4, 1], rng=rng)
        assert len(mlp.parameters()) == 4 * 4 + 4 * 5 + 5
        mlp([1.0, 2.0, 3.0])[0].backward()
        assert any(p.grad for p in mlp.parameters())
        mlp.zero_grad()
        assert not any(p.grad for p in mlp.parameters())
        with pytest.raises(ValueError):
            mlp([1.0, 2.0])

    def test_learns_xor(self):
        mlp = MLP(2, [4, 1], rng=random.Random(1))
        for _ in range(400):
            mlp.zero_grad()
            rows = zip(XOR_X.tolist(), XOR_Y[:, 0].tolist(), strict=True)
            loss = sum((mlp(x)[0] - y) ** 2 for x, y in rows)
            loss.backward()
            for p in mlp.parameters():
                p.data -= 0.1 * p.grad
        assert loss.data < 0.01

    def test_drawing(self):
        x, y = Value(2.0), Value(3.0)
        z = x * y + x
        z.backward()
        dot = draw(z, x=x).source
        assert dot.count("shape=box") == 2
        assert dot.count("shape=ellipse") == 4
        assert dot.count("->") == 6
        assert 'label="x\n2\ngrad 4"' in dot


OL_BINARY = {
    "add": (np.add, normal),
    "sub": (np.subtract, normal),
    "mul": (np.multiply, normal),
    "div": (np.divide, positive),
    "max": (np.maximum, normal),
}
SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)), ((2,), ())]


def run_operation_list(record, args, seed_gradient=None):
    """Value and gradients of something recorded on a new engine."""
    autograd = ol.Autograd()
    out = record(autograd, *args)
    autograd.backward(np.ones(out.shape) if seed_gradient is None else seed_gradient)
    return out, [autograd.gradient_buffer.get_param(a) for a in args]


class TestOperationList:
    @pytest.mark.parametrize("name", OL_BINARY)
    @pytest.mark.parametrize("shapes", SHAPES)
    def test_binary_operations_with_broadcasting(self, name, shapes):
        plain, make = OL_BINARY[name]
        args = [np.asarray(make(*shape, seed=10 * i)) for i, shape in enumerate(shapes)]
        out = plain(*args)
        weight = np.asarray(normal(*out.shape, seed=5))
        recorded, gradients = run_operation_list(getattr(ol, name), args, weight)
        np.testing.assert_array_equal(recorded, out)
        for i, (gradient, arg) in enumerate(zip(gradients, args, strict=True)):
            assert gradient.shape == arg.shape
            expected = differences(lambda *a: (weight * plain(*a)).sum(), args, i)
            np.testing.assert_allclose(gradient, expected, atol=1e-8)

    @pytest.mark.parametrize("name", ["exp", "log", "tanh"])
    def test_unary_operations(self, name):
        plain = getattr(np, name)
        for x in (np.asarray(0.7), positive(3), positive(2, 3)):
            weight = np.asarray(normal(*x.shape))
            out, (gradient,) = run_operation_list(getattr(ol, name), [x], weight)
            np.testing.assert_array_equal(out, plain(x))
            expected = differences(lambda a, w=weight: (w * plain(a)).sum(), [x], 0)
            np.testing.assert_allclose(gradient, expected, atol=1e-8)

    @pytest.mark.parametrize(
        "options",
        [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": 1, "keepdims": True}],
    )
    def test_sum(self, options):
        x = normal(2, 3, 4)
        out = x.sum(**options)
        weight = np.asarray(normal(*out.shape))
        _, (gradient,) = run_operation_list(lambda ad, a: ol.sum(ad, a, **options), [x], weight)
        expected = differences(lambda a: (weight * a.sum(**options)).sum(), [x], 0)
        np.testing.assert_allclose(gradient, expected, atol=1e-8)

    def test_matmul(self):
        a, b, weight = normal(2, 3), normal(3, 4, seed=1), normal(2, 4)
        _, (d_a, d_b) = run_operation_list(ol.matmul, [a, b], weight)
        np.testing.assert_allclose(d_a, weight @ b.T)
        np.testing.assert_allclose(d_b, a.T @ weight)
        with pytest.raises(ValueError, match="two matrices"):
            ol.matmul(ol.Autograd(), a, normal(3))

    def test_softmax_cross_entropy(self):
        predicted, truth = normal(4, 3), np.eye(3)[[0, 2, 1, 1]]

        def plain(p, t):
            return -(t * np.log(np.exp(p) / np.exp(p).sum(1, keepdims=True))).sum(1).mean()

        out, gradients = run_operation_list(ol.softmax_cross_entropy, [predicted, truth])
        assert out == pytest.approx(plain(predicted, truth))
        softmax = np.exp(predicted) / np.exp(predicted).sum(1, keepdims=True)
        np.testing.assert_allclose(gradients[0], (softmax - truth) / 4)
        np.testing.assert_allclose(
            gradients[1], differences(plain, [predicted, truth], 1), atol=1e-8
        )
        # rows that are no probabilities are differentiated as well
        args = [predicted, positive(4, 3)]
        _, gradients = run_operation_list(ol.softmax_cross_entropy, args)
        np.testing.assert_allclose(gradients[0], differences(plain, args, 0), atol=1e-8)
        # and large numbers don't overflow
        _, gradients = run_operation_list(ol.softmax_cross_entropy, [1000 * predicted, truth])
        assert np.isfinite(gradients[0]).all()
        with pytest.raises(ValueError, match="shape"):
            ol.softmax_cross_entropy(ol.Autograd(), predicted, truth[:2])

    def test_backward_functions_of_the_course(self):
        x, grad = positive(2, 3), normal(2, 3)
        np.testing.assert_allclose(ol.exp_backward(grad, x), grad * np.exp(x))
        np.testing.assert_allclose(ol.tanh_backward(grad, x), grad / np.cosh(x) ** 2)
        truth = np.eye(3)[[0, 1]]
        d_x, d_truth = ol.softmax_cross_entropy_backward(np.asarray(1.0), x, truth)
        softmax = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        np.testing.assert_allclose(d_x, (softmax - truth) / 2)
        np.testing.assert_allclose(d_truth, -np.log(softmax) / 2)

    def test_ties_share_the_gradient(self):
        x = np.array([1.0, 2.0])
        _, (d_x, d_y) = run_operation_list(ol.max, [x, np.array([1.0, 0.0])])
        np.testing.assert_array_equal(d_x, [0.5, 1.0])
        np.testing.assert_array_equal(d_y, [0.5, 0.0])

    def test_an_array_used_often(self):
        def record(autograd, x):
            return ol.add(autograd, ol.mul(autograd, x, x), x)

        x = normal(3)
        _, (gradient,) = run_operation_list(record, [x])
        np.testing.assert_allclose(gradient, 2 * x + 1)

    def test_an_operation_nobody_uses(self):
        def record(autograd, x):
            ol.exp(autograd, x)
            return ol.tanh(autograd, x)

        x = normal(3)
        _, (gradient,) = run_operation_list(record, [x])
        np.testing.assert_allclose(gradient, 1 / np.cosh(x) ** 2)

    def test_accumulation_and_zero_grad(self):
        autograd, x = ol.Autograd(), normal(3)
        out = ol.exp(autograd, ol.mul(autograd, x, x))
        autograd.backward(np.ones(3))
        autograd.backward(np.ones(3))
        expected = 2 * x * np.exp(x * x)
        np.testing.assert_allclose(autograd.gradient_buffer.get_param(x), 2 * expected)
        autograd.zero_grad()
        assert autograd.operation_list == []
        assert not autograd.gradient_buffer.is_in_memory(x)
        assert not autograd.gradient_buffer.is_in_memory(out)

    def test_gradient_to_update(self):
        autograd, x, given = ol.Autograd(), normal(2, 3), np.ones((2, 3))
        autograd.add_operation([x], np.exp(x), [given], ol.exp_backward)
        autograd.backward(np.ones((2, 3)))
        np.testing.assert_allclose(given, 1 + np.exp(x))
        assert not autograd.gradient_buffer.is_in_memory(x)

    def test_buffer(self):
        buffer, x, twin = ol.GradientBuffer(), np.zeros(2), np.zeros(2)
        assert not buffer.is_in_memory(x)
        with pytest.raises(KeyError, match="no gradient"):
            buffer.get_param(x)
        buffer.add_spot(x)
        buffer.update_param(x, np.array([1.0, 2.0]))
        buffer.add_spot(x)
        buffer.update_param(x, np.array([1.0, 2.0]))
        np.testing.assert_array_equal(buffer.get_param(x), [2.0, 4.0])
        assert not buffer.is_in_memory(twin)
        buffer.set_param(x, np.array([5.0, 6.0]))
        np.testing.assert_array_equal(buffer.get_param(x), [5.0, 6.0])
        with pytest.raises(ValueError, match="shape"):
            buffer.update_param(x, np.ones(3))
        buffer.clear()
        assert not buffer.is_in_memory(x)

    def test_buffer_keeps_its_arrays(self):
        buffer = ol.GradientBuffer()
        for _ in range(100):
            buffer.add_spot(np.zeros(2))
        fresh = np.zeros(2)
        assert not buffer.is_in_memory(fresh)

    def test_errors(self):
        autograd, x = ol.Autograd(), normal(3)
        with pytest.raises(ValueError, match="nothing was recorded"):
            autograd.backward(1.0)
        with pytest.raises(ValueError, match="1 inputs but 2"):
            autograd.add_operation([x], np.exp(x), [None, None], ol.exp_backward)
        with pytest.raises(TypeError, match="not a NumPy array"):
            autograd.add_operation([x, 2.0], x * 2.0, [None, None], ol.mul_backward)
        with pytest.raises(ValueError, match="in place"):
            autograd.add_operation([x], np.exp(x, out=x), [None], ol.exp_backward)
        autograd.zero_grad()
        ol.exp(autograd, x)
        with pytest.raises(ValueError, match="shape"):
            autograd.backward(np.ones(2))

    def test_float32_stays(self):
        autograd = ol.Autograd()
        x = normal(2, 3).astype(np.float32)
        out = ol.sum(autograd, ol.Sigmoid(autograd)(ol.ReLU(autograd)(x)))
        autograd.backward(1.0)
        assert out.dtype == autograd.gradient_buffer.get_param(x).dtype == np.float32

    def test_linear(self):
        autograd, x, weight = ol.Autograd(), normal(4, 3), normal(4, 2, seed=1)
        linear = ol.Linear(3, 2, autograd, np.random.default_rng(0))
        np.testing.assert_allclose(linear(x), x @ linear.W.T + linear.b)
        autograd.backward(weight)
        np.testing.assert_allclose(linear.dW, weight.T @ x)
        np.testing.assert_allclose(linear.db, weight.sum(0, keepdims=True))
        np.testing.assert_allclose(autograd.gradient_buffer.get_param(x), weight @ linear.W)
        linear.zero_grad()
        assert not linear.dW.any() and not linear.db.any()

    @pytest.mark.parametrize(
        ("module", "formula", "slope"),
        [
            (ol.Sigmoid, lambda x: 1 / (1 + np.exp(-x)), lambda x: 0.25 / np.cosh(x / 2) ** 2),
            (ol.ReLU, lambda x: x * (x > 0), lambda x: 1.0 * (x > 0)),
            (ol.Tanh, np.tanh, lambda x: 1 / np.cosh(x) ** 2),
        ],
    )
    def test_activations(self, module, formula, slope):
        autograd, x, weight = ol.Autograd(), normal(4, 3), normal(4, 3, seed=1)
        np.testing.assert_allclose(module(autograd)(x), formula(x))
        autograd.backward(weight)
        gradient = autograd.gradient_buffer.get_param(x)
        np.testing.assert_allclose(gradient, weight * slope(x))

    def test_identity(self):
        autograd, x = ol.Autograd(), normal(3)
        assert ol.Identity(autograd)(x) is x

    def test_losses(self):
        autograd, y, y_hat = ol.Autograd(), normal(4, 3), normal(4, 3, seed=1)
        loss = ol.MSELoss(autograd)
        assert loss(y, y_hat) == pytest.approx(((y - y_hat) ** 2).mean())
        loss.backward()
        gradient = autograd.gradient_buffer.get_param(y_hat)
        np.testing.assert_allclose(gradient, 2 * (y_hat - y) / 12)

        autograd.zero_grad()
        truth = np.eye(3)[[0, 2, 1, 1]]
        loss = ol.SoftmaxCrossEntropy(autograd)
        loss(truth, y_hat)
        loss.backward()
        softmax = np.exp(y_hat) / np.exp(y_hat).sum(1, keepdims=True)
        gradient = autograd.gradient_buffer.get_param(y_hat)
        np.testing.assert_allclose(gradient, (softmax - truth) / 4)

    def test_mlp_learns_xor(self):
        autograd = ol.Autograd()
        mlp = ol.MLP(2, 8, 1, autograd, np.random.default_rng(3))
        loss = ol.MSELoss(autograd)
        for _ in range(2000):
            mlp.zero_grad()
            value = loss(XOR_Y, mlp(XOR_X))
            loss.backward()
            mlp.step(1.0)
        assert value < 0.01

    def test_drawing(self):
        autograd, x = ol.Autograd(), normal(3)
        ol.exp(autograd, ol.mul(autograd, x, x))
        dot = draw(autograd, x=x).source
        assert "label=mul" in dot and "label=exp" in dot
        assert dot.count("shape=ellipse") == 3
        assert dot.count("->") == 5
        assert 'label="x\nfloat64 (3,)"' in dot


def check_tensors(f, *args, rtol=1e-6, atol=1e-8):
    """Every gradient of ``sum(weight * f(*args))`` against differences."""

    def plain(*arrays):
        with tg.no_grad():
            return (weight * f(*map(Tensor, arrays)).data).sum()

    tensors = [Tensor(a, requires_grad=True) for a in args]
    out = f(*tensors)
    weight = np.asarray(normal(*out.shape, seed=7))
    out.backward(weight)
    for i, tensor in enumerate(tensors):
        assert tensor.grad.shape == tensor.shape
        np.testing.assert_allclose(tensor.grad, differences(plain, args, i), rtol=rtol, atol=atol)


class TestTensorGraph:
    @pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "pow"])
    @pytest.mark.parametrize("shapes", SHAPES)
    def test_binary_operators_with_broadcasting(self, op, shapes):
        a, b = (positive(*shape, seed=10 * i) for i, shape in enumerate(shapes))
        check_tensors(getattr(operator, op), a, b)

    @pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "pow"])
    @pytest.mark.parametrize("other", [2, 1.5, np.float64(1.5), positive(2, 3), positive(3)])
    def test_operators_with_numbers_and_arrays(self, op, other):
        op = getattr(operator, op)
        x = positive(2, 3)
        np.testing.assert_array_equal(op(Tensor(x), other).data, op(x, other))
        np.testing.assert_array_equal(op(other, Tensor(x)).data, op(other, x))
        check_tensors(lambda t: op(t, other), x)
        check_tensors(lambda t: op(other, t), x)

    @pytest.mark.parametrize(
        "name",
        ["exp", "log", "sin", "cos", "tanh", "relu", "sigmoid", "gelu", "softmax", "__neg__"],
    )
    @pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
    def test_elementwise(self, name, shape):
        if shape or name != "softmax":
            check_tensors(lambda t: getattr(t, name)(), positive(*shape))
        if shape and name != "log":
            check_tensors(lambda t: getattr(t, name)(), normal(*shape))

    def test_softmax_axis(self):
        check_tensors(lambda t: t.softmax(axis=0), normal(3, 2))

    def test_powers(self):
        check_tensors(lambda t: t**2, normal(3))
        check_tensors(lambda t: t**3.0, normal(3))
        check_tensors(lambda t: t**-1, normal(3))
        for exponent, slope in ((0, 0.0), (1, 1.0), (2, 0.0)):
            for kind in (int, float, np.asarray):
                x = Tensor([0.0], requires_grad=True)
                (x ** kind(exponent)).backward()
                assert x.grad == slope
        exponent = Tensor([2.0, 2.0], requires_grad=True)
        (np.array([0.0, -3.0]) ** exponent).sum().backward()
        np.testing.assert_array_equal(exponent.grad, [0.0, 0.0])

    @pytest.mark.parametrize(
        "shapes",
        [
            ((3,), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3,)),
            ((2, 3), (3, 4)),
            ((5, 2, 3), (3,)),
            ((3,), (5, 3, 2)),
            ((5, 2, 3), (3, 4)),
            ((2, 3), (5, 3, 4)),
            ((5, 2, 3), (5, 3, 4)),
            ((6, 1, 2, 3), (5, 3, 4)),
        ],
    )
    def test_matmul(self, shapes):
        a, b = (normal(*shape, seed=10 * i) for i, shape in enumerate(shapes))
        check_tensors(operator.matmul, a, b)
        check_tensors(lambda t: a @ t, b)
        check_tensors(lambda t: t @ b, a)

    def test_matmul_formula(self):
        a, b = Tensor(normal(2, 3), True), Tensor(normal(3, 4), True)
        weight = normal(2, 4)
        (a @ b).backward(weight)
        np.testing.assert_allclose(a.grad, weight @ b.data.T)
        np.testing.assert_allclose(b.grad, a.data.T @ weight)

    def test_dot(self):
        check_tensors(lambda a, b: a.dot(b), normal(3), normal(3, seed=1))
        with pytest.raises(ValueError, match="two vectors"):
            Tensor(normal(3)).dot(normal(3, 2))

    @pytest.mark.parametrize("name", ["sum", "mean"])
    @pytest.mark.parametrize(
        "options",
        [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": 1, "keepdims": True}],
    )
    def test_reductions(self, name, options):
        check_tensors(lambda t: getattr(t, name)(**options), normal(2, 3, 4))

    @pytest.mark.parametrize(
        "f",
        [
            lambda t: t.reshape(6, 4),
            lambda t: t.reshape((4, -1)),
            lambda t: t.reshape(-1),
            lambda t: t.transpose(),
            lambda t: t.transpose(0, 2),
            lambda t: t.permute(2, 0, 1),
            lambda t: t.permute((1, -1, 0)),
            lambda t: t.T,
        ],
    )
    def test_shapes(self, f):
        check_tensors(f, normal(2, 3, 4))

    @pytest.mark.parametrize(
        "index",
        [
            1,
            -1,
            slice(None, None, 2),
            slice(None, None, -1),
            (1, slice(1, 3)),
            (..., 2),
            (slice(None), None, 1),
            [0, 0, 1],
            np.array([1, 1, 0]),
            (np.array([0, 0]), np.array([2, 2])),
            normal(4, 3) > 0,
            np.int64(2),
        ],
    )
    def test_slices(self, index):
        check_tensors(lambda t: t[index], normal(4, 3))

    def test_slices_by_tensors(self):
        x = Tensor(normal(4, 3), requires_grad=True)
        index = Tensor(np.array([1, 1]))
        (x[index].sum() + x[index, 0].sum()).backward()
        np.testing.assert_array_equal(x.grad, [[0, 0, 0], [4, 2, 2], [0, 0, 0], [0, 0, 0]])

    def test_embedding(self):
        indices = np.array([[0, 2], [2, 2]])
        check_tensors(lambda t: tg.embedding(t, indices), normal(4, 3))
        weight = Tensor(normal(4, 3), requires_grad=True)
        tg.embedding(weight, Tensor(indices)).sum().backward()
        np.testing.assert_array_equal(weight.grad[:, 0], [1, 0, 3, 0])
        with pytest.raises(TypeError, match="integers"):
            tg.embedding(weight, [0.5])

    def test_mse_loss(self):
        predicted, target = normal(2, 3), normal(2, 3, seed=1)
        check_tensors(tg.mse_loss, predicted, target)
        check_tensors(lambda p: tg.mse_loss(p, target), predicted)
        check_tensors(tg.mse_loss, predicted, normal(3))

    def test_bce_loss(self):
        p, target = positive(2, 3) / 3, np.array([[1.0, 0, 1], [0, 1, 0.5]])
        check_tensors(tg.bce_loss, p, target)
        certain = Tensor([0.0, 1.0], requires_grad=True)
        tg.bce_loss(certain, [0.0, 1.0]).backward()
        assert np.isfinite(certain.grad).all()
        with pytest.raises(ValueError, match="shape"):
            tg.bce_loss(Tensor(p), target[0])

    def test_cross_entropy(self):
        logits, labels = normal(4, 3), np.array([0, 2, 1, 1])
        check_tensors(lambda t: tg.cross_entropy(t, labels), logits)
        x = Tensor(logits, requires_grad=True)
        tg.cross_entropy(x, Tensor(labels)).backward()
        softmax = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        np.testing.assert_allclose(x.grad, (softmax - np.eye(3)[labels]) / 4)
        for wrong in (labels[:2], labels.astype(float)):
            with pytest.raises(ValueError, match="labels"):
                tg.cross_entropy(x, wrong)

    def test_extreme_numbers_do_not_overflow(self):
        x = Tensor([-1000.0, 0.0, 1000.0], requires_grad=True)
        (x.sigmoid() + x.softmax() + x.tanh()).sum().backward()
        assert np.isfinite(x.grad).all()

    def test_relu_at_zero(self):
        x = Tensor([0.0], requires_grad=True)
        x.relu().backward()
        assert x.grad == 0.5

    def test_composite(self):
        def f(x, w, b):
            return ((x @ w + b).tanh() * x[:, :1]).mean(axis=0).exp().sum() / (w * w).sum()

        check_tensors(f, normal(4, 3), normal(3, 2, seed=1), normal(2))

    def test_a_tensor_used_often(self):
        x = Tensor(normal(3), requires_grad=True)
        y = x * x
        (y + y * y + x).sum().backward()
        np.testing.assert_allclose(x.grad, 2 * x.data + 4 * x.data**3 + 1)

    def test_accumulation_and_zero_grad(self):
        x = Tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
        loss.backward()
        loss.backward()
        np.testing.assert_array_equal(x.grad, [4.0, 8.0])
        x.zero_grad()
        assert x.grad is None
        loss.backward()
        np.testing.assert_array_equal(x.grad, [2.0, 4.0])

    def test_gradients_share_no_memory(self):
        a, b = Tensor([1.0], requires_grad=True), Tensor([2.0], requires_grad=True)
        start = np.array([1.0])
        (a + b).backward(start)
        a.grad += 1
        assert b.grad == start == 1.0

    def test_only_what_requires_a_gradient_gets_one(self):
        x, w = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], requires_grad=True)
        (x * w + x).sum().backward()
        assert x.grad is None
        np.testing.assert_array_equal(w.grad, x.data)
        assert (x * x).grad_fn is None

    def test_switch(self):
        x = Tensor([1.0], requires_grad=True)
        with tg.no_grad():
            assert not (x * x).requires_grad
            with tg.no_grad():
                pass
            assert not (x * x).requires_grad
        assert (x * x).requires_grad
        tg.enable_autograd(False)
        try:
            assert not (x * x).requires_grad
        finally:
            tg.enable_autograd()
        assert (x * x).requires_grad
        with pytest.raises(ZeroDivisionError), tg.no_grad():
            raise ZeroDivisionError
        assert (x * x).requires_grad

    def test_detach(self):
        x = Tensor([2.0], requires_grad=True)
        (x * (x * x).detach()).backward()
        assert x.grad == 4.0

    def test_float32_stays(self):
        x = Tensor(normal(2, 3).astype(np.float32), requires_grad=True)
        y = 2.0 * x.sigmoid() + x.gelu() / 3 - x.relu() ** 2 + x.softmax() * np.pi + x.mean()
        assert y.dtype == np.float32
        (y @ np.ones(3)).sum().backward()
        assert x.grad.dtype == np.float32

    def test_integers_become_floats(self):
        assert Tensor([1, 2], requires_grad=True).dtype == float
        assert Tensor([1, 2]).dtype == int
        with pytest.raises(TypeError, match="complex"):
            Tensor([1j], requires_grad=True)

    def test_errors(self):
        x = Tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="requires a gradient"):
            Tensor([1.0]).backward()
        with pytest.raises(RuntimeError, match="needs a gradient to start"):
            (x * x).backward()
        with pytest.raises(ValueError, match="shape"):
            (x * x).backward(np.ones(3))
        with pytest.raises(TypeError):
            np.sin(x)

    def test_own_function(self):
        class Cube(tg.Function):
            @staticmethod
            def forward(ctx, a, scale=1.0):
                ctx.scale = scale
                ctx.save_for_backward(a)
                return scale * a**3

            @staticmethod
            def backward(ctx, d_out):
                (a,) = ctx.saved_tensors
                return d_out * 3 * ctx.scale * a**2

        check_tensors(lambda t: Cube.apply(t, scale=2.0), normal(3))
        assert "CubeBackward" in repr(Cube.apply(Tensor([1.0], requires_grad=True)))

    def test_own_function_that_is_wrong(self):
        class NoGradient(tg.Add):
            @staticmethod
            def backward(ctx, d_out):
                return d_out, None

        class WrongShape(tg.Add):
            @staticmethod
            def backward(ctx, d_out):
                return d_out, d_out[:-1]

        x = Tensor(normal(3), requires_grad=True)
        with pytest.raises(NotImplementedError, match="NoGradientBackward"):
            NoGradient.apply(x, x).backward(np.ones(3))
        with pytest.raises(ValueError, match="shape"):
            WrongShape.apply(x, x).backward(np.ones(3))

    def test_chain_of_100_000(self):
        x = Tensor(1.0, requires_grad=True)
        y = x
        for _ in range(100_000):
            y = y + 1.0
        y.backward()
        assert (y.item(), x.grad) == (100_001.0, 1.0)
        del y  # freeing the chain must not overflow the stack of C either

    def test_repr(self):
        assert repr(Tensor([1.0, 2.0])) == "Tensor([1., 2.])"
        x = Tensor([1.0, 2.0], requires_grad=True)
        assert repr(x) == "Tensor([1., 2.], requires_grad=True)"
        assert repr(x * 2) == "Tensor([2., 4.], grad_fn=<MulBackward>)"

    def test_attributes(self):
        x = Tensor(normal(2, 3))
        assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((2, 3), 2, 6, 2, float)
        assert x.numpy() is x.data
        assert [row.shape for row in x] == [(3,), (3,)]

    def test_learns_xor(self):
        rng = np.random.default_rng(0)
        shapes = [(2, 8), (8,), (8, 1), (1,)]
        parameters = [Tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]
        w1, b1, w2, b2 = parameters
        for _ in range(500):
            for p in parameters:
                p.zero_grad()
            predicted = ((Tensor(XOR_X) @ w1 + b1).tanh() @ w2 + b2).sigmoid()
            loss = tg.bce_loss(predicted, XOR_Y)
            loss.backward()
            for p in parameters:
                p.data -= 0.5 * p.grad
        assert loss.item() < 0.05

    def test_drawing(self):
        x, w = Tensor(normal(4, 3)), Tensor(normal(3, 2), requires_grad=True)
        loss = (x @ w).tanh().sum()
        dot = draw(loss, w=w).source
        assert [f"label={name} shape=box" in dot for name in ("MatMul", "Tanh", "Sum")] == [
            True
        ] * 3
        assert dot.count("shape=ellipse") == 4
        assert dot.count("->") == 6
        assert 'label="w\nfloat64 (3, 2)"' in dot


def test_drawing_of_something_else():
    with pytest.raises(TypeError, match="cannot draw int"):
        draw(3)


# what the tapes do, said to srcgrad in plain NumPy


def power(a, b):
    return a**b


def micrograd(a, b):
    c = a * b + b**3
    d = c + c * 2 + max(b + a, 0.0)
    e = (c - d) ** 2 / 2.0 + 10.0 / d
    return math.exp(math.tanh(e * 1e-3)) + math.log(abs(a)) - a // b + a % b


def micrograd_on_values(a, b):
    c = a * b + b**3
    d = c + c * 2 + (b + a).relu()
    e = (c - d) ** 2 / 2.0 + 10.0 / d
    return (e * 1e-3).tanh().exp() + abs(a).log() - a // b + a % b


def perceptron(weights1, biases1, weights2, bias2, x):
    hidden = []
    for weights, bias in zip(weights1, biases1):  # noqa: B905
        total = bias
        for w, xi in zip(weights, x):  # noqa: B905
            total = total + w * xi
        hidden.append(math.tanh(total))
    total = bias2
    for w, h in zip(weights2, hidden):  # noqa: B905
        total = total + w * h
    return total


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def relu(x):
    return np.maximum(x, 0.0)


def mse(predicted, target):
    return np.mean((predicted - target) ** 2)


def bce(p, target):
    return -np.mean(target * np.log(p) + (1 - target) * np.log(1 - p))


def log_softmax(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def labelled(logits):
    return -np.mean(log_softmax(logits)[np.arange(4), LABELS])


def entropy(logits, truth):
    return -np.sum(truth * log_softmax(logits)) / len(logits)


def embedded(table):
    return table[np.array([[0, 2], [2, 1]])]


def mixed(x, w, b):
    hidden = np.tanh(x @ w + b) * x[:, :1]
    return np.exp(np.mean(hidden, axis=0)) / np.sum(w * w)


def mixed_on_tensors(x, w, b):
    hidden = (x @ w + b).tanh() * x[:, :1]
    return hidden.mean(axis=0).exp() / (w * w).sum()


def moved(x):
    return x.reshape(6, 4).T[1:, ::2]


def network(W1, b1, W2, b2, x, y):
    hidden = np.maximum(x @ W1.T + b1, 0)
    return np.mean((sigmoid(hidden @ W2.T + b2) - y) ** 2)


LABELS = np.array([0, 2, 1, 1])
TRUTH = np.eye(3)[LABELS]
ON_TENSORS = {  # function: on tensors, arguments
    np.exp: (Tensor.exp, (normal(2, 3),)),
    np.log: (Tensor.log, (positive(2, 3),)),
    np.sin: (Tensor.sin, (normal(2, 3),)),
    np.cos: (Tensor.cos, (normal(2, 3),)),
    np.tanh: (Tensor.tanh, (normal(2, 3),)),
    np.negative: (operator.neg, (normal(2, 3),)),
    np.add: (operator.add, (normal(2, 3), normal(3, seed=1))),
    np.subtract: (operator.sub, (normal(2, 1), normal(3, seed=1))),
    np.multiply: (operator.mul, (normal(2, 3), normal(2, 1, seed=1))),
    np.divide: (operator.truediv, (normal(3), positive(2, 3, seed=1))),
    np.matmul: (operator.matmul, (normal(5, 2, 3), normal(3, 4, seed=1))),
    np.dot: (Tensor.dot, (normal(3), normal(3, seed=1))),
    power: (operator.pow, (positive(2, 3), normal(3, seed=1))),
    relu: (Tensor.relu, (normal(2, 3),)),
    sigmoid: (Tensor.sigmoid, (normal(2, 3),)),
    gelu: (Tensor.gelu, (normal(2, 3),)),
    softmax: (Tensor.softmax, (normal(2, 3),)),
    mse: (tg.mse_loss, (normal(2, 3), normal(2, 3, seed=1))),
    bce: (tg.bce_loss, (positive(2, 3) / 3, positive(2, 3, seed=1) / 3)),
    labelled: (lambda x: tg.cross_entropy(x, LABELS), (normal(4, 3),)),
    embedded: (lambda x: tg.embedding(x, [[0, 2], [2, 1]]), (normal(4, 3),)),
    moved: (lambda x: x.reshape(6, 4).T[1:, ::2], (normal(2, 3, 4),)),
    mixed: (mixed_on_tensors, (normal(4, 3), normal(3, 2, seed=1), normal(2))),
}
ON_THE_LIST = {
    np.exp: (ol.exp, (normal(2, 3),)),
    np.log: (ol.log, (positive(2, 3),)),
    np.tanh: (ol.tanh, (normal(2, 3),)),
    np.add: (ol.add, (normal(2, 3), normal(3, seed=1))),
    np.subtract: (ol.sub, (normal(2, 1), normal(3, seed=1))),
    np.multiply: (ol.mul, (normal(2, 3), normal(2, 1, seed=1))),
    np.divide: (ol.div, (normal(3), positive(2, 3, seed=1))),
    np.maximum: (ol.max, (normal(2, 3), normal(3, seed=1))),
    np.matmul: (ol.matmul, (normal(2, 3), normal(3, 4, seed=1))),
    entropy: (ol.softmax_cross_entropy, (normal(4, 3), TRUTH)),
}


def named(table):
    return pytest.mark.parametrize("function", table, ids=lambda function: function.__name__)


class TestAgainstSrcgrad:
    @pytest.mark.parametrize(
        ("plain", "on_values", "numbers"),
        [
            (operator.add, operator.add, (2.0, -3.0)),
            (operator.sub, operator.sub, (2.0, -3.0)),
            (operator.mul, operator.mul, (2.0, -3.0)),
            (operator.truediv, operator.truediv, (2.0, -3.0)),
            (operator.mod, operator.mod, (7.3, 2.1)),
            (operator.pow, operator.pow, (1.7, -2.3)),
            (micrograd, micrograd_on_values, (-3.0, 2.0)),
            (micrograd, micrograd_on_values, (3.0, 1.5)),
        ],
    )
    def test_scalar_graph(self, plain, on_values, numbers):
        def function(a, b):
            return plain(a, b)

        values = [Value(x) for x in numbers]
        out = on_values(*values)
        out.backward()
        value, gradients = srcgrad.value_and_grad(function, (0, 1))(*numbers)
        assert out.data == pytest.approx(value, rel=1e-14)
        assert [v.grad for v in values] == pytest.approx(list(gradients), rel=1e-12)

    def test_scalar_network(self):
        mlp, x = MLP(3, [4, 1], rng=random.Random(0)), [0.5, -1.0, 2.0]
        (out,) = mlp(x)
        out.backward()
        hidden, (last,) = (layer.neurons for layer in mlp.layers)
        parameters = (
            [[w.data for w in n.weights] for n in hidden],
            [n.bias.data for n in hidden],
            [w.data for w in last.weights],
            last.bias.data,
        )
        value, gradients = srcgrad.value_and_grad(perceptron, (0, 1, 2, 3))(*parameters, x)
        assert out.data == pytest.approx(value)
        expected = (
            [[w.grad for w in n.weights] for n in hidden],
            [n.bias.grad for n in hidden],
            [w.grad for w in last.weights],
            last.bias.grad,
        )
        for gradient, of_values in zip(gradients, expected, strict=True):
            np.testing.assert_allclose(gradient, of_values, rtol=1e-12)

    @named(ON_TENSORS)
    def test_tensor_graph(self, function):
        on_tensors, args = ON_TENSORS[function]
        tensors = [Tensor(a, requires_grad=True) for a in args]
        out = on_tensors(*tensors)
        value, pullback = srcgrad.vjp(lambda *args: function(*args), *args)
        np.testing.assert_allclose(out.data, value, rtol=1e-12)
        weight = np.asarray(normal(*out.shape, seed=3))
        out.backward(weight)
        gradients = pullback(weight if out.ndim else float(weight))
        for tensor, gradient in zip(tensors, gradients, strict=True):
            np.testing.assert_allclose(tensor.grad, gradient, rtol=1e-10, atol=1e-13)

    @named(ON_THE_LIST)
    def test_operation_list(self, function):
        record, args = ON_THE_LIST[function]
        value, pullback = srcgrad.vjp(function, *args)
        weight = np.asarray(normal(*np.shape(value), seed=3))
        out, recorded = run_operation_list(record, args, weight)
        np.testing.assert_allclose(out, value, rtol=1e-12)
        gradients = pullback(weight if np.ndim(value) else float(weight))
        for one, other in zip(recorded, gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)

    def test_network_of_the_operation_list(self):
        autograd = ol.Autograd()
        mlp = ol.MLP(2, 8, 1, autograd, np.random.default_rng(3))
        loss = ol.MSELoss(autograd)
        value = loss(XOR_Y, mlp(XOR_X))
        loss.backward()
        layers = mlp.linear1, mlp.linear2
        parameters = [p for layer in layers for p in (layer.W, layer.b)]
        recorded = [d for layer in layers for d in (layer.dW, layer.db)]
        ours, gradients = srcgrad.value_and_grad(network, (0, 1, 2, 3))(*parameters, XOR_X, XOR_Y)
        assert value == pytest.approx(ours)
        for one, other in zip(recorded, gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)
