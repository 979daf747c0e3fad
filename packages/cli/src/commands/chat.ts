/** `a2a chat`: a conversation in the terminal. Without a terminal, or with `-o json`, it sends its text once, as `send` does. */
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { neutralize } from '@parley/a2a/command-line'

export async function run(context: CommandContext): Promise<number | void> {
  const { terminal, output, args } = context
  const isInteractive = terminal.isInputTerminal && terminal.isOutputTerminal && output.format === 'text'
  const hasMessage =
    args.operands.length > 0 || args.options.some(({ name }) => ['text', 'file', 'data'].includes(name))
  if (!isInteractive) {
    if (!hasMessage) throw usageError('chat needs a terminal, or a text to send once.', 'In scripts use `a2a send`.')
    return (await import('./send.ts')).run(context)
  }
  if (args.operands[0] === '-') throw usageError('chat reads its messages from the terminal: - cannot name stdin.')
  const [{ ChatSession }, { openLinePrompt }, { slashCommandNames }, { readMessageParts }] = await Promise.all([
    import('../chat/chat-session.ts'),
    import('../chat/line-prompt.ts'),
    import('../chat/slash-commands.ts'),
    import('./message-parts.ts'),
  ])
  const first = hasMessage ? await readMessageParts(context) : undefined
  const connection = await context.connect()
  const prompt = openLinePrompt(terminal, slashCommandNames)
  const session = new ChatSession({ context, connection, prompt })
  try {
    const { name, version } = connection.agent.card
    await terminal.write(`${neutralize(`${name} ${version}`)}. /help lists the commands, Ctrl-D ends the chat.\n`)
    await session.run(first)
  } finally {
    prompt.close()
    await connection.close()
    const summary = session.summary()
    if (summary !== '') await terminal.write(`\n${summary}`)
  }
}
