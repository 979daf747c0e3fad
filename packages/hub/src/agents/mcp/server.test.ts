import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isToolAllowed, mcpServerEntry, resolveMcpServer } from './server.ts'

const surroundings = { baseDir: '/etc/parley', programEnv: { PATH: '/bin' } }

describe('an MCP server in the configuration', () => {
  it('is a program with a place and an environment, or an address with credentials', () => {
    const program = mcpServerEntry.parse({ command: ['npx', 'x'], cwd: './work', env: { TOKEN: 't' } })
    assert.deepEqual(resolveMcpServer(program, surroundings), {
      command: ['npx', 'x'],
      cwd: '/etc/parley/work',
      env: { PATH: '/bin', TOKEN: 't' },
    })
    const address = mcpServerEntry.parse({ url: 'https://x.test/mcp', bearer: 'b', headers: { 'x-a': '1' } })
    assert.deepEqual(resolveMcpServer(address, surroundings), {
      url: 'https://x.test/mcp',
      headers: { authorization: 'Bearer b', 'x-a': '1' },
    })
  })

  it('is one of the two, and not both', () => {
    for (const wrong of [{}, { command: ['x'], url: 'https://x.test' }, { command: [] }, { url: 'ftp://x' }])
      assert.equal(mcpServerEntry.safeParse(wrong).success, false, JSON.stringify(wrong))
  })

  it('may be used as far as its tools are allowed [S0-28]', () => {
    assert.ok(isToolAllowed('anything', undefined))
    assert.ok(isToolAllowed('get_a', ['get_*', 'x']) && isToolAllowed('x', ['get_*', 'x']))
    assert.ok(
      !isToolAllowed('set_a', ['get_*', 'x']) && !isToolAllowed('xx', ['get_*', 'x']) && !isToolAllowed('a', []),
    )
    assert.ok(!isToolAllowed('axb', ['a.b']))
    assert.ok(!isToolAllowed('get_b', ['get_*'], ['*_b']) && !isToolAllowed('get_b', undefined, ['get_b']))
    assert.ok(isToolAllowed('get_a', ['get_*'], ['*_b']))
  })
})
