/** An agent that speaks when the test lets it, and goes when it is told `end`. To any other message than `go` it answers at once. */
import type { Agent, Turn } from '../agents/agent.ts'
import { status } from '../agents/reports.ts'

export function prompted() {
  const words: string[] = []
  let wake: (() => void) | undefined
  const agent: Agent = async function* ({ text }: Turn) {
    if (text !== 'go') {
      yield `did ${text}`
      return
    }
    yield status('here')
    for (;;) {
      const word = words.shift()
      if (word === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else if (word === 'end') return
      else yield word
    }
  }
  const say = (...more: string[]): void => {
    words.push(...more)
    wake?.()
  }
  return { agent, say }
}
