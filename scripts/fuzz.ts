/**
 * `npm run fuzz`: the guided fuzz of every decoder and entry point, a million inputs by default.
 *
 *   npm run fuzz -- --inputs 1000000 --target grpc --seed 7 --parallel 2 --update-corpus
 *
 * Exits with 1 if it finds anything. An input that broke something is written to `--findings`, and belongs in
 * test/fuzz/corpus with the name of what it broke.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { readCorpus, writeCorpus } from '../test/fuzz/guided/corpus.ts'
import type { CampaignResult } from '../test/fuzz/guided/campaign.ts'
import { runTarget } from '../test/fuzz/guided/run-target.ts'
import { smallestCover } from '../test/fuzz/guided/smallest-cover.ts'
import type { Finding, FuzzTarget } from '../test/fuzz/guided/target.ts'
import { listTargets } from '../test/fuzz/targets.ts'
import type { ListedTarget } from '../test/fuzz/targets.ts'

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    target: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    parallel: { type: 'string', default: String(availableParallelism()) },
    findings: { type: 'string', default: 'fuzz-findings' },
    'update-corpus': { type: 'boolean', default: false },
  },
})

const all = await listTargets()
/** Far more than any input takes, because the machine may be busy. */
const hangMs = 20_000
const seed = Number(values.seed)
const chosen = all.filter(({ target }) => values.target?.split(',').includes(target.name) ?? true)
if (chosen.length === 0) {
  console.error(`There is no target ${values.target}. There are: ${all.map(({ target }) => target.name).join(', ')}.`)
  process.exit(1)
}
const weights = chosen.reduce((sum, { target }) => sum + target.weight, 0)
const inputsOf = ({ weight }: FuzzTarget): number => Math.ceil((Number(values.inputs) * weight) / weights)

console.log(`fuzz: ${values.inputs} inputs, seed ${seed}, targets ${chosen.map(({ target }) => target.name).join(' ')}`)
const startedAt = performance.now()
const findings: Finding[] = []
const sums = { done: 0 }
// Those with the most inputs first, so that the end is not one long target.
const waiting = chosen.toSorted((a, b) => b.target.weight - a.target.weight)
await Promise.all(Array.from({ length: Number(values.parallel) }, work))
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
console.log(`fuzz: ${sums.done} inputs in ${seconds} s, ${findings.length} findings (seed ${seed})`)
process.exitCode = findings.length > 0 || sums.done < Number(values.inputs) ? 1 : 0

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await fuzz(next)
}

async function fuzz({ module, target }: ListedTarget): Promise<void> {
  const corpus = readCorpus(target.name)
  const first = [...target.seeds(), ...corpus.map(({ input }) => input)]
  const began = performance.now()
  const result = await runTarget({ module, target: target.name, inputs: inputsOf(target), seed, first, hangMs })
  report(target, result, performance.now() - began)
  if (values['update-corpus'] && result.findings.length === 0) {
    const regressions = corpus.filter(({ regression }) => regression !== undefined)
    const cover = await smallestCover(target, [...corpus.map(({ input }) => input), ...result.kept])
    writeCorpus(target.name, [...regressions, ...cover.map((input) => ({ input }))])
    console.log(`      corpus: ${regressions.length} regressions, ${cover.length} inputs`)
  }
}

function report(
  { name }: FuzzTarget,
  { done, kept, blocks, slowestMs, findings: found }: CampaignResult,
  tookMs: number,
): void {
  sums.done += done
  const rate = Math.round((done * 1_000) / tookMs)
  console.log(
    `${found.length === 0 ? '✔' : '✖'} ${name.padEnd(14)} ${String(done).padStart(8)} inputs ${String(rate).padStart(6)}/s  ` +
      `${blocks} blocks, ${kept.length} new inputs, longest block ${slowestMs.toFixed(0)} ms`,
  )
  for (const finding of found) {
    findings.push(finding)
    mkdirSync(values.findings, { recursive: true })
    const file = join(values.findings, `${name}-${finding.kind}-${findings.length}`)
    writeFileSync(file, finding.input)
    console.log(
      `  ✖ ${finding.kind}: ${finding.message.split('\n').slice(0, 12).join('\n    ')}\n    input: ${file} (${finding.input.length} bytes) ${formatInput(finding.input)}`,
    )
  }
}

function formatInput(input: Uint8Array): string {
  return JSON.stringify(Buffer.from(input.subarray(0, 400)).toString('latin1'))
}
