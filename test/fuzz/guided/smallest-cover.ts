/** The fewest and smallest inputs that reach all that many inputs reach: what is worth keeping in the repository. */
import { startCoverage } from './coverage.ts'
import type { FuzzTarget } from './target.ts'

const mostInputBytes = 3_000
const mostBytesTogether = 50_000

export async function smallestCover(target: FuzzTarget, inputs: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const coverage = startCoverage()
  const subject = await target.open()
  const run = async (input: Uint8Array): Promise<readonly string[]> => {
    coverage.take()
    try {
      await subject.run(input)
    } catch {
      // Whether it breaks a rule is asked elsewhere.
    }
    return coverage.take().blocks.map(({ key }) => key)
  }
  const seen = new Set<string>()
  // What the seeds reach needs no input of its own.
  for (const seed of target.seeds()) for (const block of await run(seed)) seen.add(block)
  const kept: Uint8Array[] = []
  let bytes = 0
  for (const input of inputs.toSorted((a, b) => a.length - b.length)) {
    if (input.length > mostInputBytes || bytes + input.length > mostBytesTogether) break
    const fresh = (await run(input)).filter((block) => !seen.has(block))
    if (fresh.length === 0) continue
    for (const block of fresh) seen.add(block)
    kept.push(input)
    bytes += input.length
  }
  await subject.close?.()
  coverage.stop()
  return kept
}
