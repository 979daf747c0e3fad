/**
 * Indexes for searches of the operator over all owners. The agent and the state come before the time: a list of all tasks merges
 * the ranges of the agents and states that occur, which are few. Names are indexed by a hash, because they may have any length.
 * Running tasks (SUBMITTED 1, WORKING 2) are excluded: they are few at any time, and the counters of their owners find them. So a
 * task enters these indexes once in its life, and not with each change of its state.
 */
export const sql = `
CREATE INDEX tasks_search ON tasks (hashtextextended(agent, 0), state, status_at, id) WHERE state NOT IN (1, 2);
CREATE INDEX tasks_owner ON tasks (hashtextextended(owner, 0), status_at, id) WHERE state NOT IN (1, 2);
CREATE INDEX pushes_state ON pushes (state, ref);
`
