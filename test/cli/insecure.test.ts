/** TLS of the command line: certificates are verified unless `--insecure` says otherwise, over every binding. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
import { runInMemory } from '../../packages/cli/src/testing/memory-terminal.ts'

const server = await serve({
  name: 'Secure',
  description: 'Answers over TLS only',
  agent: () => 'ok',
  store: memoryStore(),
  port: 0,
  grpcPort: 0,
  quiet: true,
  tls: selfSigned('localhost'),
})
after(() => server.close())

describe('a certificate that no authority has signed', () => {
  it('is refused: nothing is sent', async () => {
    const { code, stdout } = await runInMemory(['send', 'x', '-a', server.url, '-o', 'json'])
    const { error } = JSON.parse(stdout) as { readonly error: { readonly code: string } }
    assert.deepEqual([code, error.code], [3, 'A2ACLI_ERR_UNREACHABLE'])
  })

  for (const transport of ['jsonrpc', 'rest', 'grpc'])
    it(`is accepted with --insecure over ${transport}, with a warning`, async () => {
      const run = await runInMemory(['send', 'x', '-a', server.url, '--insecure', '--transport', transport])
      assert.equal(run.code, 0, run.stderr)
      assert.match(run.stderr, /Warning: .*--insecure/)
      assert.match(run.stdout, /Text: ok\n/)
    })
})
