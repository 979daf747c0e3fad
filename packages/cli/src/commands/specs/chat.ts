/** `chat`. */
import type { Command } from '../../command.ts'
import { send } from './calls.ts'
import { callOptions } from './call-options.ts'

export const chat: Command = {
  name: 'chat',
  operands: '[text]',
  summary: 'Talks with an agent in the terminal. Without a terminal it sends the text once.',
  details: [
    'Keeps the context from one message to the next, and the task while it waits for your answer. Markdown is rendered. At the end it prints the ids and the command that continues.',
    'In the chat, /help lists further commands: to add files, to cancel, to wait, to log in.',
  ],
  options: send.options,
  globalOptions: [...callOptions, 'context-id', 'task-id'],
  examples: ['a2a chat -a localhost:3000', 'a2a chat -a localhost:3000 --context-id <id>'],
  operandCount: [0, 1],
  load: () => import('../chat.ts'),
}
