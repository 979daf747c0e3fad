import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

async function complaintOf(...args: string[]): Promise<string> {
  const terminal = createTestTerminal({ environment: { EMPTY: '' } })
  assert.ok([1, 2].includes(await runCli(['mcp', ...args], terminal)))
  assert.deepEqual(terminal.printed, [])
  assert.equal(terminal.errors.length, 1)
  return terminal.errors[0] ?? ''
}

describe('parley mcp', () => {
  it('says what is wrong with its flags, and nothing where a client listens', async () => {
    assert.match(await complaintOf('--hub', 'nonsense'), /^--hub must be an http or https URL/)
    assert.match(await complaintOf('--agent', 'ftp://x'), /^--agent must be an http or https URL/)
    assert.equal(
      await complaintOf('--agent', 'http://x.example', '--tools', 'all'),
      '--tools: "all" is none of agents, skills.',
    )
    const agent = ['--agent', 'http://x.example']
    for (const wait of ['x', '1e9', '-=']) {
      assert.match(await complaintOf(...agent, `--wait=${wait}`), /^--wait must be a number of seconds/)
    }
    for (const name of ['NONE', 'EMPTY']) {
      assert.equal(await complaintOf(...agent, '--token-env', name), `${name} is not set in the environment.`)
    }
    assert.match(await complaintOf(...agent, '--allow', 'a b'), /is not a host name, an address or an address range/)
    assert.match(await complaintOf('--config', '/no/such/parley.yaml'), /no\/such/)
  })

  it('ends with the input of the client, and on a signal', async () => {
    for (const end of ['input', 'signal']) {
      const terminal = createTestTerminal()
      const running = runCli(['mcp', '--agent', '127.0.0.1:9'], terminal)
      terminal.input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
      const [answer] = (await once(terminal.output, 'data')) as [Buffer]
      assert.deepEqual(JSON.parse(String(answer)), { jsonrpc: '2.0', id: 1, result: {} })
      if (end === 'input') terminal.input.end()
      else terminal.shutDown()
      assert.equal(await running, 0)
    }
  })
})
