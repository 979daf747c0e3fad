/** The commands that a line of `chat` can be instead of a message. */

export interface SlashCommand {
  readonly name: string
  readonly operand?: string
  readonly summary: string
}

export const slashCommands: readonly SlashCommand[] = [
  { name: '/help', summary: 'Shows this list.' },
  { name: '/file', operand: '<path|url>', summary: 'Adds a file to the next message.' },
  { name: '/data', operand: '<path|json>', summary: 'Adds JSON to the next message.' },
  { name: '/task', summary: 'Shows the ids of the context and of the open tasks.' },
  { name: '/cancel', operand: '[task-id]', summary: 'Cancels the newest open task, or the one of the id.' },
  {
    name: '/wait',
    operand: '[task-id]',
    summary: 'Waits for the newest open task, or the one of the id, for example after you signed in elsewhere.',
  },
  { name: '/login', summary: 'Obtains the token that the agent asks for, and sends it.' },
  { name: '/new', summary: 'Begins a new context.' },
  { name: '/exit', summary: 'Leaves the chat; so does Ctrl-D.' },
]

export const slashCommandNames: readonly string[] = slashCommands.map(({ name }) => name)

export function slashHelp(): string {
  const width = Math.max(...slashCommands.map(({ name, operand = '' }) => `${name} ${operand}`.length))
  return [
    ...slashCommands.map(({ name, operand = '', summary }) => `${`${name} ${operand}`.padEnd(width)}  ${summary}`),
    'A line that ends with \\ continues on the next. Ctrl-C stops waiting for the agent; again, it cancels the task.',
  ].join('\n')
}

/** `undefined` for a message. `//` begins a message with a slash. */
export function parseSlashCommand(line: string): { readonly name: string; readonly operand: string } | undefined {
  const match = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(line.trim())
  if (match === null) return undefined
  const [, name = '', operand = ''] = match
  return { name: name === '/quit' ? '/exit' : name, operand: operand.trim() }
}
