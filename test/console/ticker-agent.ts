/** An agent that writes numbers at an interval in milliseconds: `tick 5 100`. */
export const ticker = `
export default async function* ({ text, signal }) {
  const [, times = '3', ms = '50'] = /tick (\\d+) (\\d+)/.exec(text) ?? []
  for (let number = 1; number <= Number(times); number += 1) {
    yield { artifact: { artifactId: 'log', name: 'log', parts: [{ text: 'line ' + number + '\\n' }] }, append: number > 1 }
    if (Number(ms) > 0) await new Promise((resolve) => setTimeout(resolve, Number(ms)))
    if (signal.aborted) return
  }
}
`

export const tickerOptions = {
  agents: { ticker: { kind: 'module', path: './ticker.mjs', description: 'Ticks.' } },
  files: { 'ticker.mjs': ticker },
}
