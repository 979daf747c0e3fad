import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { parse } from 'yaml'
import type { Detect, DetectDeps } from '../../agents/detect/detect.ts'
import { createAgentAdd } from './agent-add.ts'
import { parseFlags } from '../commands.ts'
import { createTestTerminal } from '../testing/test-terminal.ts'

function scene(t: TestContext, detect: Detect) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-add-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const command = createAgentAdd(detect)
  const terminal = createTestTerminal({ cwd: folder, environment: { TOKEN: 'sesame' } })
  const file = join(folder, 'parley.yaml')
  return {
    terminal,
    file,
    run: (...words: string[]) => command.run(parseFlags(command, words), terminal),
    agents: () => (parse(readFileSync(file, 'utf8')) as { agents: Record<string, unknown> }).agents,
  }
}

const found: Detect = async ([first]) => ({
  kind: 'demo',
  name: 'echo',
  entry: { agent: 'echo' },
  notes: [`saw ${first}`],
})

describe('parley agent add', () => {
  it('writes what was found, under the name that it gives itself', async (t) => {
    const { run, agents, terminal, file } = scene(t, found)
    assert.equal(await run('https://echo.example.com'), 0)
    assert.deepEqual(agents(), { echo: { kind: 'demo', agent: 'echo' } })
    assert.deepEqual(terminal.printed, [`Added echo (demo) to ${file}.`, 'saw https://echo.example.com'])
  })

  it('writes it under another name, once', async (t) => {
    const { run, agents } = scene(t, found)
    assert.equal(await run('https://echo.example.com', '--name', 'mirror'), 0)
    assert.deepEqual(Object.keys(agents()), ['mirror'])
    await assert.rejects(() => run('--name', 'mirror', 'https://echo.example.com'), /The agent mirror already exists/)
    await assert.rejects(() => run('--name', 'tasks', 'https://echo.example.com'), /Invalid agent name/)
  })

  it('chooses a free name, if none is given', async (t) => {
    const { run, agents } = scene(t, found)
    await run('https://echo.example.com')
    await run('https://echo.example.com')
    assert.deepEqual(Object.keys(agents()), ['echo', 'echo-2'])
  })

  it('hands over a token, and writes only where it is', async (t) => {
    let parts: DetectDeps | undefined
    const { run, terminal, file } = scene(t, async (_, given) => {
      parts = given
      return { kind: 'demo', name: 'e', entry: { agent: 'echo' } }
    })
    await run('--token-env', 'TOKEN', 'https://echo.example.com')
    assert.deepEqual(parts?.token, { value: 'sesame', reference: '${env:TOKEN}' })
    assert.ok(![...terminal.printed, readFileSync(file, 'utf8')].some((text) => text.includes('sesame')))
    await assert.rejects(
      () => run('--token-env', 'NONE', 'https://x.example.com'),
      /NONE is not set in the environment/,
    )
  })

  it('writes nothing if no kind is detected, and prints the diagnosis and each reason once', async (t) => {
    const diagnosis = {
      code: 'not-listening',
      title: 'Nothing is listening on port 9',
      advice: 'Start the agent.',
      cause: 'connect ECONNREFUSED 127.0.0.1:9',
    } as const
    const reasons = ['a2a, mcp: connect ECONNREFUSED 127.0.0.1:9', 'openclaw: no gateway responds there']
    const { run, file, terminal } = scene(t, async () => ({ diagnosis, reasons }))
    assert.equal(await run('http://127.0.0.1:9'), 1)
    assert.ok(!existsSync(file))
    assert.deepEqual(terminal.errors, [
      'Nothing is listening on port 9 (connect ECONNREFUSED 127.0.0.1:9).',
      'Start the agent.',
      'Tried:',
      '  openclaw: no gateway responds there',
      'To add it anyway, choose its kind with --kind.',
    ])
  })

  it('uses the kind that the user gives', async (t) => {
    const { run, agents } = scene(t, async () => assert.fail('nothing is detected'))
    await run('--kind', 'module', './greeter.ts')
    assert.deepEqual(agents(), { greeter: { kind: 'module', path: './greeter.ts' } })
    await assert.rejects(
      () => run('--kind', 'demo', 'x'),
      /agents\.x\.agent: is missing: must be echo, clock or concierge/,
    )
    await assert.rejects(() => run('--kind', 'modul', 'x'), /unknown kind: did you mean module/)
  })
})
