/** What the commands that call an agent have in common. */
import type { OptionSpec } from '../../args/option.ts'

/** The global options that the help of every command that calls an agent describes. */
export const callOptions: readonly string[] = [
  'agent-card',
  'transport',
  'a2a-version',
  'output',
  'timeout',
  'insecure',
  'verbose',
]

/** Of the commands whose result is a task. */
export const exitStatusOption: OptionSpec = {
  name: 'exit-status',
  summary:
    'The exit code tells how the task stands: 1 if it failed or was rejected or canceled, 6 if it waits for input or a credential.',
}
