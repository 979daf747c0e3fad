/**
 * How long the program `a2a` takes, which coding agents start in loops: `--version` beside an empty program, and `card get` beside a bare
 * GET of the same card on loopback. Builds the package first.
 *
 *   npm run bench:cli              ten seconds on an idle machine
 *   npm run bench:cli -- --strict  ends with 1 if a target is missed
 *   npm run bench:cli -- --runs 50
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { serve } from '@parley/a2a/node'
import { memoryStore } from '@parley/a2a'
import { buildPackages } from '../scripts/build-packages.ts'

const { values: flags } = parseArgs({
  options: { runs: { type: 'string', default: '25' }, strict: { type: 'boolean', default: false } },
})

interface Case {
  readonly name: string
  readonly args: readonly string[]
}

interface Target {
  readonly text: string
  readonly ours: string
  readonly limit: string
  readonly most: number
}

const targets: readonly Target[] = [
  { text: 'a2a --version: at most 2× an empty program', ours: 'a2a --version', limit: 'empty program', most: 2 },
  { text: 'a2a card get: at most 1.5× a bare GET', ours: 'a2a card get', limit: 'bare GET', most: 1.5 },
]

await buildPackages()
const home = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const server = await serve({
  name: 'Echo',
  description: 'Echoes',
  port: 0,
  store: memoryStore(),
  agent: async function* ({ text }) {
    yield text
  },
})
const program = join(import.meta.dirname, '../packages/cli/dist/main.js')
const card = `${server.url}/.well-known/agent-card.json`
const get = `require('node:http').get('${card}', (response) => {
  let text = ''
  response.on('data', (chunk) => (text += chunk)).on('end', () => console.log(text))
})`
const cases: readonly Case[] = [
  { name: 'empty program', args: ['--eval', ''] },
  { name: 'a2a --version', args: [program, '--version'] },
  { name: 'a2a help send', args: [program, 'help', 'send'] },
  { name: 'bare GET', args: ['--eval', get] },
  { name: 'a2a card get', args: [program, 'card', 'get', '-a', server.url, '-o', 'json'] },
  { name: 'a2a send', args: [program, 'send', 'Hello', '-a', server.url, '-o', 'json'] },
]

/** Milliseconds from the start of the process to its end. */
async function timeOf({ name, args }: Case): Promise<number> {
  const start = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'ignore'],
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  return performance.now() - start
}

try {
  const times = new Map(cases.map(({ name }) => [name, [] as number[]]))
  // The first round fills the cache of compiled code. Rounds are interleaved, so that other load affects all alike.
  for (let round = 0; round <= Number(flags.runs); round += 1)
    for (const one of cases) {
      const ms = await timeOf(one)
      if (round > 0) times.get(one.name)?.push(ms)
    }
  const median = (name: string): number => {
    const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? NaN
  }
  for (const { name } of cases) {
    const least = Math.min(...(times.get(name) ?? []))
    console.log(`${name.padEnd(16)} ${median(name).toFixed(1).padStart(7)} ms   least ${least.toFixed(1)} ms`)
  }
  for (const { text, ours, limit, most } of targets) {
    const got = median(ours) / median(limit)
    console.log(`${got <= most ? 'met   ' : 'MISSED'} ${text}: ${got.toFixed(2)}×`)
    if (got > most && flags.strict) process.exitCode = 1
  }
} finally {
  await server.close()
  rmSync(home, { recursive: true })
}
