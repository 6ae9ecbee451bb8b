"""A thermostat with hysteresis: the room is simulated until it has been comfortable for a while
or the day is over; the cost is energy plus discomfort."""

import numpy as np

ARGNUMS = (0, 1, 2, 3)


def outdoor_temperature(hour):
    return 8.0 + 5.0 * np.sin(2 * np.pi * (hour - 9.0) / 24.0)


def program(temperature, power, leak, setpoint, dt):
    time = 0.0
    heating = False
    energy = 0.0
    discomfort = 0.0
    comfortable_for = 0
    switches = 0
    while True:
        if heating and temperature > setpoint + 0.5:
            heating = False
            switches += 1
        elif not heating and temperature < setpoint - 0.5:
            heating = True
            switches += 1

        flow = -leak * (temperature - outdoor_temperature(time))
        if heating:
            # the heater gets weaker as the room gets warm
            supplied = power * (1.0 - 0.01 * temperature)
            flow += supplied
            energy += supplied * dt
        temperature += dt * flow
        time += dt

        error = temperature - setpoint
        discomfort += error**2 * dt
        if abs(error) < 0.8:
            comfortable_for += 1
        else:
            comfortable_for = 0
        if comfortable_for > 20 and switches >= 3:
            break
        if time >= 24.0:
            break
    return discomfort + 0.1 * energy + 0.01 * temperature**2


def inputs(size=None):
    dt = 0.05 if size is None else 3.55 / size
    return 12.0, 9.0, 0.35, 20.0, dt
