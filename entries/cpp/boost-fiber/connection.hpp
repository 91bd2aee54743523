// What a connection does in each scenario.
#pragma once
#include "../shared/options.hpp"
#include "socket.hpp"

// Starts what a scenario has only one of. Called by a worker, before there are connections.
void prepare_scenario(Scenario scenario);

// Serves a connection until its end. Called in a fiber of its own.
void serve_connection(Socket &socket, Scenario scenario);
