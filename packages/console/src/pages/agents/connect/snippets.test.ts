import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SnippetInput } from './client-programs.ts'
import { agentSnippets } from './snippets.ts'

const parts: SnippetInput = {
  url: 'https://hub.example.com/a2a/gpt',
  card: 'https://hub.example.com/a2a/gpt/.well-known/agent-card.json',
  hub: 'https://hub.example.com',
  agent: 'gpt',
  text: `It's "so" $HOME \`x\``,
  withKey: false,
}
const codeOf = (id: string, more: Partial<SnippetInput> = {}): string =>
  agentSnippets({ ...parts, ...more }).find((snippet) => snippet.id === id)?.code ?? ''

describe('the snippets', () => {
  it('quote the message for a shell', () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: 'ID', role: 'ROLE_USER', parts: [{ text: parts.text }] } },
    })
    assert.equal(
      codeOf('curl'),
      `curl 'https://hub.example.com/a2a/gpt' \\
  -H 'Content-Type: application/json' \\
  -H 'A2A-Version: 1.0' \\
  -d '${body.replace("'", `'\\''`).replace('ID', `'$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)'`)}'`,
    )
    assert.match(codeOf('curl-0.3'), /A2A-Version: 0\.3[\s\S]*"method":"message\/send"[\s\S]*"kind":"text"/)
    assert.match(codeOf('curl-stream'), /^curl -N /)
    assert.match(codeOf('curl-rest'), /gpt\/message:send'/)
    for (const id of ['curl', 'curl-stream', 'curl-rest', 'curl-0.3'])
      assert.match(codeOf(id), /"messageId":"'\$\(uuidgen/)
    assert.match(codeOf('a2a-js'), /messageId: crypto\.randomUUID\(\)/)
  })

  it('never contain a key, only the name of its variable', () => {
    for (const { id } of agentSnippets(parts)) {
      assert.doesNotMatch(codeOf(id), /PARLEY_KEY|Authorization/, id)
      assert.match(codeOf(id, { withKey: true }), /PARLEY_KEY/, id)
    }
  })

  it('are JSON for clients that read JSON', () => {
    assert.deepEqual(JSON.parse(codeOf('mcp-http')), {
      mcpServers: { parley: { type: 'http', url: 'https://hub.example.com/mcp' } },
    })
    const { args, env } = JSON.parse(codeOf('mcp-stdio', { withKey: true })).mcpServers.parley
    assert.deepEqual(
      [args, Object.keys(env)],
      [['-y', '@parley/hub', 'mcp', '--hub', 'https://hub.example.com'], ['PARLEY_KEY']],
    )
  })
})
