/** The command lines whose output is compared with the files of test/cli/golden. */

export interface GoldenCase {
  /** The name of its file. */
  readonly name: string
  /** `<task>` stands for the id of the task that `before` started. */
  readonly args: readonly string[]
  /** A message that starts a task first. */
  readonly before?: string
  /** Whether to wait for that task. Default true. */
  readonly waits?: boolean
}

export const goldenCases: readonly GoldenCase[] = [
  { name: 'card-get', args: ['card', 'get'] },
  { name: 'send-complete', args: ['send', 'complete the order'] },
  { name: 'send-parts', args: ['send', 'parts'] },
  { name: 'send-chunks', args: ['send', 'chunks'] },
  { name: 'send-message', args: ['send', 'message'] },
  { name: 'send-input', args: ['send', 'input'] },
  { name: 'send-auth', args: ['send', 'auth'] },
  { name: 'send-fail', args: ['send', 'fail'] },
  { name: 'send-reject', args: ['send', 'reject'] },
  { name: 'send-hostile', args: ['send', 'hostile'] },
  { name: 'send-answer', args: ['send', '--task-id', '<task>', 'Oslo'], before: 'input' },
  { name: 'send-unknown-task', args: ['send', '--task-id', 'no-such-task', 'x'] },
  { name: 'task-get', args: ['task', 'get', '<task>', '--history', '2'], before: 'parts' },
  { name: 'task-get-unknown', args: ['task', 'get', 'no-such-task'] },
  { name: 'task-list', args: ['task', 'list'], before: 'complete' },
  { name: 'task-cancel', args: ['task', 'cancel', '<task>'], before: 'hold never', waits: false },
  { name: 'task-cancel-ended', args: ['task', 'cancel', '<task>'], before: 'complete' },
  { name: 'task-subscribe', args: ['task', 'subscribe', '<task>'], before: 'input' },
  { name: 'task-subscribe-ended', args: ['task', 'subscribe', '<task>'], before: 'complete' },
  { name: 'task-download', args: ['task', 'download', '<task>', '--dir', 'out'], before: 'parts' },
  { name: 'usage-error', args: ['send', '--no-such-option', 'x'] },
]
