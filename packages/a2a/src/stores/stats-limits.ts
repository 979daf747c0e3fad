/** How far the statistics of a store look, so that their cost has a bound: see store-stats.ts. */

/** A larger backlog is counted up to this number: 50,000 entries of an index of SQLite took up to 9 ms, these 0.5 ms. */
export const maxCountedPushes = 10_000
/** How many configs are inspected for `PushBacklog.oldestAt`: half of them from each end of the due times. */
export const maxInspectedPushes = 500
/** How many attempts of a config are read to find the first for its next event: more than a retry schedule has. */
export const maxInspectedAttempts = 20

/** The states in which a task waits for its caller. */
export const waitingStates = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const
