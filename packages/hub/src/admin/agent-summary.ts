/** What the admin API tells of an agent. */
import { z } from 'zod'
import { timestamp } from './route.ts'

const skill = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
})

const health = z.strictObject({
  state: z.enum(['up', 'slow', 'down']),
  why: z.string().optional(),
  cause: z.string().optional().describe('The error of the last health check.'),
  breaker: z.enum(['closed', 'open', 'half-open']).describe('Open: no work is delegated to it for a while.'),
  firstWordMs: z
    .number()
    .optional()
    .describe('The usual time to its first output: an artifact or a reply, not a status message.'),
  askedAt: timestamp.optional(),
})

const retryState = z
  .strictObject({
    state: z
      .enum(['scheduled', 'running', 'stopped'])
      .describe('Stopped: it is not tried again until an admin requests it or its configuration changes.'),
    nextTryAt: timestamp.optional().describe('Set if the next attempt is scheduled.'),
    attempts: z.int().describe('Consecutive failed attempts.'),
    since: timestamp.describe('The time of the first of them.'),
  })
  .meta({ id: 'AgentRetry' })
  .describe('Set while the agent cannot be opened or reached.')

export const agentSummary = z
  .strictObject({
    name: z.string(),
    kind: z.string(),
    state: z.enum(['open', 'unavailable']),
    startError: z
      .strictObject({
        message: z.string(),
        at: timestamp,
        nextTryAt: timestamp.optional().describe('Absent while an attempt runs, and while the retries are stopped.'),
      })
      .optional()
      .describe('Why it is unavailable, and when it was and will be tried.'),
    retry: retryState.optional(),
    status: z
      .strictObject({
        state: z
          .enum(['up', 'slow', 'failing', 'down', 'blocked', 'unavailable'])
          .describe(
            'Failing: it can be called, but of at least 5 tasks that ended in the last 15 minutes more than 20 % failed. ' +
              'Blocked: its card has changed and is not approved. Unavailable: it was not opened.',
          ),
        reason: z.string().optional().describe('Why it needs the attention of an operator. Absent: it does not.'),
      })
      .describe('What the hub concludes from everything it knows of the agent.'),
    trouble: z.string().optional().meta({ description: 'Deprecated: `startError.message`.', deprecated: true }),
    health,
    title: z.string(),
    description: z.string().optional(),
    version: z.string(),
    url: z.string(),
    card: z.string().describe('The URL of its card.'),
    tags: z.array(z.string()),
    skills: z.array(skill),
    isDefault: z.boolean(),
    isOpen: z.boolean().describe('Whether it may be called without credentials.'),
    isCardPrivate: z.boolean(),
    whenBusy: z
      .enum(['queue', 'reject', 'steer'])
      .describe('What happens to a message that arrives while a task is being worked on.'),
    load: z.strictObject({
      working: z.int().describe('Tasks that were sent or are being worked on.'),
      waiting: z
        .int()
        .describe(
          'Tasks that wait for their caller, without delegated ones: the task of the original caller waits, too.',
        ),
      streams: z.int().describe('Open streams of this process.'),
    }),
    usage: z
      .strictObject({
        calls: z.int().describe('Messages in the last hour: those of clients, and tasks that another agent delegated.'),
        errors: z.int().describe('Calls that ended with an error, and failed tasks, in the last hour.'),
        lastUsedAt: timestamp.optional().describe('The last call, if it was within 90 days.'),
      })
      .describe('By the statistics of the hub, of all replicas.'),
    endedTasks: z
      .strictObject({ ended: z.int(), failed: z.int() })
      .describe('Tasks that ended in the last 15 minutes, and those of them that failed.'),
    lastError: z
      .strictObject({
        taskId: z.string(),
        at: timestamp,
        text: z.string().optional().describe('What its caller received.'),
        cause: z.string().optional().describe('Why it failed, for operators. Callers do not receive it.'),
      })
      .optional()
      .describe('The task that failed last.'),
    drift: z
      .enum(['changed', 'blocked'])
      .optional()
      .describe('The card of a remote agent differs from the approved one. Blocked: the agent is not called.'),
  })
  .meta({ id: 'Agent' })

export type AgentSummary = z.output<typeof agentSummary>
