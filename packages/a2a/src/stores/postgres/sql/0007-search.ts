/**
 * What whoever runs the server looks for, over all owners. With the agent and the state before the time: a list of all merges
 * the ranges of the agents and states that occur, which are few. Names are in it by a hash, because they may be of any length.
 * Tasks that are at work (SUBMITTED 1, WORKING 2) are not in it: they are few at any time, and are found by the counters of
 * their owners; so a task comes into these indexes once in its life, and not with each change of its state.
 */
export const sql = `
CREATE INDEX tasks_search ON tasks (hashtextextended(agent, 0), state, status_at, id) WHERE state NOT IN (1, 2);
CREATE INDEX tasks_owner ON tasks (hashtextextended(owner, 0), status_at, id) WHERE state NOT IN (1, 2);
CREATE INDEX pushes_state ON pushes (state, ref);
`
