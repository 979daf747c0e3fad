/** `chat`. */
import type { Command } from '../../command.ts'

export const chat: Command = {
  name: 'chat',
  operands: '[text]',
  summary: 'Talks with an agent in the terminal. Without a terminal it sends the text once.',
  options: [],
  examples: ['a2a chat -a localhost:3000', 'a2a chat -a localhost:3000 --context-id <id>'],
  operandCount: [0, 1],
  load: () => import('../chat.ts'),
}
