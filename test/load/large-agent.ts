/** An agent of the load test: `pieces 12` answers with 12 MB in pieces, `whole 12` in one. */
import { artifact, type StreamEvent, type Turn } from '@parley/a2a'

const line = '{"name": "a line of a log", "text": "with \\"quotes\\", and its end"}\n'
const piece = line.repeat(Math.ceil(250_000 / line.length)).slice(0, 250_000)

export default async function* ({ text }: Turn): AsyncGenerator<string | StreamEvent | ReturnType<typeof artifact>> {
  const [, how, megabytes = '0'] = /^(pieces|whole) (\d+)$/.exec(text) ?? []
  const count = Number(megabytes) * 4
  if (how === 'whole') yield artifact('whole', { text: 'x'.repeat(250_000 * count) })
  else for (let index = 0; index < count; index += 1) yield artifact('log', { text: piece, append: index > 0 })
}
