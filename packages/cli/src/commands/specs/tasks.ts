/** The commands of `a2a task` besides those of push notifications. */
import type { Command } from '../../command.ts'
import type { OptionSpec } from '../../args/option.ts'
import { callOptions, exitStatusOption } from './call-options.ts'

const history: OptionSpec = {
  name: 'history',
  aliases: ['history-length'],
  takes: '<n>',
  summary: 'How many messages of the history each task has at most.',
}

const taskGet: Command = {
  name: 'task get',
  operands: '<task-id>',
  summary: 'Shows a task: state, artifacts and history. With --wait it waits for the result.',
  options: [history, exitStatusOption],
  globalOptions: [...callOptions, 'wait', 'poll-interval'],
  examples: ['a2a task get <id> -a localhost:3000', 'a2a task get <id> -a localhost:3000 --wait --timeout 5m'],
  operandCount: [1, 1],
  load: () => import('../task/task-get.ts'),
}

const taskList: Command = {
  name: 'task list',
  summary: 'Lists the tasks of the caller, page by page.',
  options: [
    {
      name: 'status',
      takes: '<state>',
      values: [
        'submitted',
        'working',
        'completed',
        'failed',
        'canceled',
        'input-required',
        'rejected',
        'auth-required',
      ],
      alsoAccepts: /^TASK_STATE_[A-Z_]+$/,
      summary: 'Only tasks in this state. Also accepts the name of the protocol: TASK_STATE_WORKING.',
    },
    { name: 'page-size', aliases: ['limit'], takes: '<n>', summary: 'How many tasks a page has at most.' },
    { name: 'page-token', takes: '<token>', summary: 'Continues after the page that ended with this token.' },
    { name: 'all', summary: 'Fetches all pages.' },
    { name: 'since', takes: '<time>', summary: 'Only tasks whose state changed at or after this time (ISO 8601).' },
    history,
    { name: 'include-artifacts', aliases: ['with-artifacts'], summary: 'Includes the artifacts of the tasks.' },
  ],
  globalOptions: [...callOptions, 'context-id'],
  examples: [
    'a2a task list -a localhost:3000 --status working',
    'a2a task list -a localhost:3000 --page-size 20 --page-token <token> -o json',
  ],
  load: () => import('../task/task-list.ts'),
}

const taskCancel: Command = {
  name: 'task cancel',
  operands: '<task-id>',
  summary: 'Cancels a task, and shows the resulting state.',
  options: [],
  globalOptions: callOptions,
  examples: ['a2a task cancel <id> -a localhost:3000'],
  operandCount: [1, 1],
  load: () => import('../task/task-cancel.ts'),
}

const taskSubscribe: Command = {
  name: 'task subscribe',
  operands: '<task-id>',
  summary: 'Follows a running task until it has ended, or needs input or a credential.',
  details: [
    'Reconnects after a broken connection. On a terminal and without -o, the answer is printed while it comes. Elsewhere, and with -o, only the final task is printed, unless --stream asks for every event.',
  ],
  options: [
    { name: 'last-event-id', takes: '<id>', summary: 'Continues after this event, if the agent supports it.' },
    exitStatusOption,
  ],
  globalOptions: [...callOptions, 'stream', 'poll-interval'],
  examples: ['a2a task subscribe <id> -a localhost:3000 --stream'],
  operandCount: [1, 1],
  load: () => import('../task/task-subscribe.ts'),
}

const taskDownload: Command = {
  name: 'task download',
  operands: '<task-id>',
  summary: 'Saves the files of the artifacts of a task.',
  options: [
    {
      name: 'dir',
      takes: '<folder>',
      summary: 'Where to save them instead of the current folder; - writes the content to stdout.',
    },
    { name: 'artifact', takes: '<id>', repeatable: true, summary: 'Only this artifact, by its id or name.' },
    { name: 'force', summary: 'Replaces existing files.' },
    { name: 'fetch-urls', summary: 'Also fetches the files that the agent gives as URLs, without credentials.' },
  ],
  globalOptions: callOptions,
  examples: ['a2a task download <id> -a localhost:3000 --dir results'],
  operandCount: [1, 1],
  load: () => import('../task/task-download.ts'),
}

export const taskCommands: readonly Command[] = [taskGet, taskList, taskSubscribe, taskCancel, taskDownload]
