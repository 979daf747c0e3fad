/**
 * What whoever runs the server looks for, over all owners. With the agent and the state before the time: a list of all merges
 * the ranges of the agents and states that occur, which are few. Names are in it by a hash, because they may be of any length.
 */
export const sql = `
CREATE INDEX tasks_search ON tasks (hashtextextended(agent, 0), state, status_at, id);
CREATE INDEX tasks_owner ON tasks (hashtextextended(owner, 0), status_at, id);
CREATE INDEX pushes_state ON pushes (state, ref);
`
