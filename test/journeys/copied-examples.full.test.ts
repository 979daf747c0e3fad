/**
 * Each example, copied out of the repository and run as its README says, with the packed packages. A program that ends prints what the
 * README shows; a server answers the command of the README. Only the port differs.
 */
import assert from 'node:assert/strict'
import { cpSync, globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { areFrameworksInstalled } from '../../scripts/install-frameworks.ts'
import { freePort } from '../free-port.ts'
import { describeJourney } from './journey.ts'
import type { Machine } from './machine.ts'
import { assertOutput } from './pages/match-output.ts'
import { commandsIn } from './pages/page-runner.ts'
import { fencedBlocks, root } from './pages/page-steps.ts'

/** What the servers answer to the command of their README. */
const answers: Readonly<Record<string, RegExp>> = {
  greeter: /Hello, Ada!/,
  analyst: /You asked: How many rows\?/,
  durable: /fetch[\s\S]*draw/,
  express: /Hello, Ada!/,
  'express-rxjs': /You asked: sales of Q4/,
  fastify: /Hello, Ada!/,
  hono: /Hello, Ada!/,
  hub: /You said "Hello", and I am only a script\./,
  nestjs: /You asked: sales of Q4/,
  'ai-sdk': /pay \{"invoice":"INV-7"/,
  claude: /pay \{"invoice":"INV-7"/,
  langgraph: /For how many nights\?/,
  mastra: /For how many nights\?/,
  'openai-agents': /pay \{"invoice":"INV-7"/,
}
/** What npm prints before the program does. */
const npmLines = /^\n?> .*\n> .*\n\n/
const address = /(?:^|listening on |is at )(http:[^\s,]+)/m
const frameworks = ['ai-sdk', 'claude', 'langgraph', 'mastra', 'openai-agents']

for (const name of globSync('*/', { cwd: join(root, 'examples') }).toSorted()) {
  const skip =
    frameworks.includes(name) && !areFrameworksInstalled() && 'node scripts/install-frameworks.ts installs its packages'
  describeJourney(
    `the example ${name}`,
    (step) => step('is copied out and runs as its README says', (machine) => runExample(machine, name)),
    { skip, isEmpty: true },
  )
}

async function runExample(machine: Machine, name: string): Promise<void> {
  const folder = join(machine.home, name)
  const own = (path: string): boolean => !/node_modules|\.parley|\.db/.test(path.slice(root.length))
  cpSync(join(root, 'examples', name), folder, { recursive: true, filter: own })
  const [first, second] = [await machine.terminal(folder), await machine.terminal(folder)]
  const blocks = fencedBlocks(await readFile(join(folder, 'README.md'), 'utf8'))
  const [run, ...more] = blocks.filter(({ language }) => language === 'sh')
  const [install = '', start = ''] = commandsIn(run?.content ?? '')
  await first.run(install)
  const output = blocks.find(({ language }) => language === 'text')
  if (output !== undefined) {
    const printed = (await first.run(start)).replace(npmLines, '')
    return assertOutput(printed, { format: 'text', content: output.content })
  }
  const call = more
    .flatMap(({ content }) => commandsIn(content))
    .find((command) => command.includes('npx @parley/cli send'))
  const hasTests = start === 'npm test'
  if (hasTests) {
    assert.match(await first.run(start), /^. fail 0$/m)
    if (call === undefined) return
  }
  if (name === 'hub') await startModel(machine, folder)
  // Programs print the port that they were told.
  const serve = hasTests ? 'npm start' : start
  const onFreePorts = serve.replace('9999', String(machine.port)).replace('9998', String(await freePort()))
  const [, url = ''] = address.exec(await first.start(onFreePorts, address)) ?? []
  assert.equal(new URL(url).port, String(machine.port), 'the port is that of PORT')
  if (call === undefined) return
  const answer = await second.run(call.replace(/localhost:\d+/, new URL(url).host))
  assert.match(answer, answers[name] ?? /^$/)
}

/** The model of the example `hub`, whose address is in the configuration. */
async function startModel(machine: Machine, folder: string): Promise<void> {
  const terminal = await machine.terminal(folder, { PORT: String(await freePort()) })
  const [, url = ''] = address.exec(await terminal.start('npm run model', address)) ?? []
  const config = join(folder, 'parley.yaml')
  await writeFile(config, (await readFile(config, 'utf8')).replace('http://127.0.0.1:4010/v1', url))
}
