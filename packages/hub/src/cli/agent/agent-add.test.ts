import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { parse } from 'yaml'
import type { Detect, DetectDeps } from '../../agents/detect/detect.ts'
import { demoConfig } from '../../demo/index.ts'
import { addAgent } from './agent-add.ts'
import { createTestTerminal, testFlags } from '../testing/test-terminal.ts'

function scene(t: TestContext, detect: Detect) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-add-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // No hub can listen on this port: the system hands out none below 1024.
  const environment = { TOKEN: 'sesame', PARLEY_URL: '127.0.0.1:3', PARLEY_ADMIN_KEY: 'a-key-of-no-hub-at-all' }
  const terminal = createTestTerminal({ cwd: folder, environment })
  const file = join(folder, 'parley.yaml')
  return {
    terminal,
    file,
    run: (...words: string[]) => addAgent(testFlags('agent', 'add', ...words), terminal, detect),
    /** Without those that a hub without a file has. */
    agents: () => {
      const { agents } = parse(readFileSync(file, 'utf8')) as { agents: Record<string, unknown> }
      return Object.fromEntries(Object.entries(agents).filter(([name]) => !Object.hasOwn(demoConfig.agents, name)))
    },
  }
}

const found: Detect = async ([first]) => ({
  kind: 'demo',
  name: 'mine',
  entry: { agent: 'echo' },
  notes: [`saw ${first}`],
})

describe('parley agent add', () => {
  it('writes what was found, under the name that it gives itself', async (t) => {
    const { run, agents, terminal, file } = scene(t, found)
    assert.equal(await run('https://echo.example.com'), 0)
    assert.deepEqual(agents(), { mine: { kind: 'demo', agent: 'echo' } })
    assert.deepEqual(terminal.printed, [`Added mine (demo) to ${file}.`, 'saw https://echo.example.com'])
  })

  it('reports that no hub runs, for people and as JSON', async (t) => {
    const { run, terminal } = scene(t, found)
    assert.equal(await run('https://echo.example.com'), 0)
    const message = 'The hub at http://127.0.0.1:3 is not running: it uses this at its next start.'
    assert.deepEqual(terminal.errors, [message])
    assert.equal(await run('https://echo.example.com', '-o', 'json'), 0)
    const { hub } = JSON.parse(terminal.printed.slice(2).join('\n')) as { hub: object }
    assert.deepEqual(hub, { state: 'stopped', url: 'http://127.0.0.1:3', message })
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
    assert.deepEqual(Object.keys(agents()), ['mine', 'mine-2'])
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
    await run('--kind', 'a2a', '127.0.0.1:8080/a2a/x', '--name', 'near')
    await run('--kind', 'mcp', 'tools.example.com:8443/mcp', '--name', 'far')
    assert.deepEqual(agents(), {
      greeter: { kind: 'module', path: './greeter.ts' },
      near: { kind: 'a2a', url: 'http://127.0.0.1:8080/a2a/x' },
      far: { kind: 'mcp', url: 'https://tools.example.com:8443/mcp' },
    })
    await assert.rejects(
      () => run('--kind', 'demo', 'x'),
      /agents\.x\.agent: is missing: must be echo, clock, concierge or rehearsal/,
    )
    await assert.rejects(() => run('--kind', 'modul', 'x'), /unknown kind: did you mean module/)
  })
})
