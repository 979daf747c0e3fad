/**
 * What whoever runs the server looks for, over all owners. One index for tasks, with the agent and the state before the
 * time: a list of all merges the ranges of the agents and states that occur, which are few, and a list of one agent or one
 * state some of them. Each such index costs every change of a state, so there is one and not one for each question.
 */
export const sql = `
CREATE INDEX tasks_search ON tasks (agent, state, status_at, id);
CREATE INDEX counters_owner ON counters (owner);
CREATE INDEX pushes_state ON pushes (state, ref);
`
