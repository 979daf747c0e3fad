/** The first agent of a tree: delegates over the binding that the second word names. */
import type { Report, Turn } from '@parley/a2a'
import type { AgentTools } from '@parley/hub'

async function* run(turn: Turn, { delegate }: AgentTools): AsyncGenerator<Report, void, undefined> {
  const [first] = await turn.history()
  const message = (first?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
  const [, binding] = message.split(' ')
  const { text } = yield* delegate({ agent: `to-b-${binding}`, message, artifacts: false })
  yield `front read: ${text}`
}

export default { resume: 'rerun', run }
