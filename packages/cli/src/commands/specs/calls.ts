/** `card get`, `send` and `chat`. */
import type { Command } from '../../command.ts'
import { callOptions, exitStatusOption } from './call-options.ts'

const cardGet: Command = {
  name: 'card get',
  summary: 'Shows the card of an agent: identity, capabilities, interfaces, security schemes and skills.',
  options: [
    { name: 'validate', summary: 'Checks the card, and reports every violation of the specification.' },
    { name: 'extended', summary: 'Fetches the card for authenticated callers.' },
  ],
  globalOptions: [...callOptions, 'verify', 'trusted-keys'],
  examples: ['a2a card get -a localhost:3000', 'a2a card get -a https://agent.example.com --validate -o json'],
  load: () => import('../card-get.ts'),
}

const send: Command = {
  name: 'send',
  operands: '[text]',
  summary: 'Sends a message, and waits for the result.',
  details: [
    'The text - is read from stdin; so is the message if there is neither a text nor a part and stdin is no terminal. The parts of the message have the order of the command line. --media-type applies to the part before it.',
    'On a terminal and without -o, the answer itself is printed while it comes, then the ids and the state. Elsewhere, and with -o text, everything has a label.',
    'The exit code is 0 if the agent answered, whatever the state of the task is: check the state, or use --exit-status. If the task needs input, the command that continues it is printed.',
    'Ctrl-C stops waiting and prints how to resume; a second Ctrl-C cancels the task.',
  ],
  options: [
    { name: 'text', aliases: ['text-part'], takes: '<text>', repeatable: true, summary: 'A text part.' },
    {
      name: 'file',
      aliases: ['file-part'],
      takes: '<path|url>',
      repeatable: true,
      summary: 'A file part: the content of a file, or a URL, which the agent fetches.',
    },
    {
      name: 'data',
      aliases: ['data-part'],
      takes: '<path|->',
      repeatable: true,
      summary: 'A data part: a file with JSON, or - for stdin.',
    },
    { name: 'media-type', takes: '<type>', repeatable: true, summary: 'The media type of the part before it.' },
    { name: 'accept', takes: '<type>', repeatable: true, summary: 'A media type that you accept in the result.' },
    {
      name: 'history',
      aliases: ['history-length'],
      takes: '<n>',
      summary: 'How many messages of the history the result has at most.',
    },
    { name: 'reference-task', takes: '<id>', repeatable: true, summary: 'Another task that the message is about.' },
    {
      name: 'message-id',
      takes: '<id>',
      default: 'a new id',
      summary: 'The id of the message. Agents that recognize repeats answer the same id only once.',
    },
    exitStatusOption,
  ],
  globalOptions: [...callOptions, 'stream', 'wait', 'async', 'poll-interval', 'context-id', 'task-id'],
  examples: [
    'a2a send -a localhost:3000 "Hello"',
    'a2a send -a localhost:3000 --text "What is in it?" --file photo.jpg --stream',
    'a2a send -a localhost:3000 --task-id <id> "Yes" -o json',
    'git diff | a2a send -a localhost:3000 --exit-status',
  ],
  operandCount: [0, 1],
  load: () => import('../send.ts'),
}

const chat: Command = {
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

export const callCommands: readonly Command[] = [cardGet, send, chat]
