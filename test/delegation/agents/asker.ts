/** Asks for input, and answers with it. */
import { inputRequired } from '@parley/a2a'
import type { Turn } from '@parley/a2a'

export default async ({ text, history }: Turn) => {
  const said = await history()
  if (said.length === 1) return inputRequired(`What about ${text}?`)
  const [first] = said[0]?.parts ?? []
  return `${first !== undefined && 'text' in first ? first.text : ''}: ${text}`
}
