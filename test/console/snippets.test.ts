/** The snippets of the console, run unchanged against a real hub: with curl, with our client, with another SDK. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { agentSnippets } from '../../packages/console/src/pages/agents/connect/snippets.ts'
import { openTestHub } from '../admin/test-hub.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const text = `It's "Ann", \`who\` pays $HOME \\ 100% 😀`

describe('a snippet', { timeout: 600_000 }, async () => {
  const testHub = await openTestHub({
    config: {
      access: { anonymous: ['open'] },
      agents: { closed: { kind: 'module', path: './talker.ts' }, open: { kind: 'module', path: './talker.ts' } },
    },
  })
  const { authorization = '' } = await testHub.key({ agents: ['closed'] })
  const env = { ...process.env, PARLEY_KEY: authorization.slice('Bearer '.length) }
  const folder = folderWithPackages()

  function codeOf(id: string, agent: string): string {
    const url = `${testHub.url}/a2a/${agent}`
    const card = `${url}/.well-known/agent-card.json`
    const all = agentSnippets({ url, card, hub: testHub.url, agent, text, withKey: agent === 'closed' })
    return all.find((snippet) => snippet.id === id)?.code ?? ''
  }

  async function runProgram(id: string, agent: string): Promise<string> {
    const file = join(folder, `${id}-${agent}.mts`)
    writeFileSync(file, codeOf(id, agent))
    const { stdout } = await run(process.execPath, ['--conditions=parley-source', file], { env, cwd: folder })
    return stdout
  }

  for (const agent of ['open', 'closed']) {
    const how = agent === 'closed' ? 'with a key' : 'without a key'

    for (const id of ['curl', 'curl-rest', 'curl-0.3']) {
      it(`for ${id} runs in a shell ${how}`, async () => {
        const { stdout } = await run('sh', ['-c', `${codeOf(id, agent)} -sS`], { env })
        const answer = JSON.parse(stdout)
        assert.equal(answer.error, undefined, stdout)
        assert.match(JSON.stringify(answer), id === 'curl-0.3' ? /"state":"completed"/ : /TASK_STATE_COMPLETED/)
        assert.ok(stdout.includes(JSON.stringify(text).slice(1, -1)), stdout)
      })
    }

    it(`for a stream by curl runs in a shell ${how}`, async () => {
      const { stdout } = await run('sh', ['-c', `${codeOf('curl-stream', agent)} -sS`], { env })
      assert.match(stdout, /^data: /m)
      assert.match(stdout, /TASK_STATE_COMPLETED/)
    })

    it(`for our own client runs in Node ${how}`, async () => {
      assert.equal(await runProgram('parley', agent), `You said: ${text}`)
    })

    it(`for @a2a-js/sdk runs in Node ${how}`, async () => {
      const answer = JSON.parse(await runProgram('a2a-js', agent))
      assert.ok(JSON.stringify(answer.artifacts).includes(JSON.stringify(text).slice(1, -1)))
    })
  }

  it('without the key is refused by an agent that requires one', async () => {
    const { stdout } = await run('sh', ['-c', `${codeOf('curl', 'closed')} -sS`], { env: { ...env, PARLEY_KEY: 'no' } })
    assert.notEqual(JSON.parse(stdout).error, undefined)
  })

  it('for MCP has the MCP address of the hub', async () => {
    const { url } = JSON.parse(codeOf('mcp-http', 'open')).mcpServers.parley
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(body),
    })
    assert.match(await answer.text(), /"serverInfo"/)
  })
})

/** A folder in which both packages are installed under the imported names. */
function folderWithPackages(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-snippets-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, where] of [
    ['@parley/a2a', 'packages/a2a'],
    ['@a2a-js/sdk', 'node_modules/a2a-sdk-1'],
  ] as const) {
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true })
    symlinkSync(join(root, where), join(folder, 'node_modules', name))
  }
  return folder
}
