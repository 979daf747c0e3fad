/** Delegates the message as the first word selects: to one agent, to several in turn, to itself. */
import type { Report, Turn } from '@parley/a2a'
import type { AgentTools } from '@parley/hub'

async function* run(turn: Turn, { delegate, agents }: AgentTools): AsyncGenerator<Report, void, undefined> {
  const [first] = await turn.history()
  const said = (first?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
  const [how = '', ...rest] = said.split(' ')
  const text = rest.join(' ')
  if (how === 'list') {
    yield (await agents()).map(({ name }) => name).join(' ')
    return
  }
  if (how === 'both') {
    const one = yield* delegate({ agent: 'asker', message: `first ${text}` })
    const two = yield* delegate({ agent: 'asker', message: `second ${text}`, artifacts: false })
    yield `${one.text} + ${two.text}`
    return
  }
  if (how === 'many') {
    for (let count = 0; count < Number(rest[0]); count += 1) yield* delegate({ agent: 'echo', message: `${count}` })
    return
  }
  const [agent = '', timeout] = how.split('@')
  const timeoutMs = timeout === undefined ? {} : { timeoutMs: Number(timeout) }
  const { text: answer } = yield* delegate({ agent, message: text, ...timeoutMs })
  yield `${agent} said: ${answer}`
}

export default { resume: 'rerun', run }
