/** A credential that an agent asks for in the middle of a task, obtained in `a2a chat` and passed to the task. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authRequired } from '@parley/a2a'
import { clientTools, credentials } from '@parley/a2a/server'
import { startAuthorizationServer } from '../../packages/a2a/src/testing/fixtures/authorization-server.ts'
import { runA2a } from '../../packages/cli/src/run.ts'
import { createMemoryTerminal } from '../../packages/cli/src/testing/memory-terminal.ts'
import { startProtectedAgent } from './protected-agent.ts'

describe('AUTH_REQUIRED in a chat', () => {
  for (const inBand of [true, false])
    it(`obtains the token of the agent's scheme with /login${inBand ? ' at the question' : ', later'}`, async () => {
      const authorization = await startAuthorizationServer({ interval: 0 })
      const { deviceAuthorizationUrl, tokenUrl } = authorization
      const scheme = {
        oauth2SecurityScheme: { flows: { deviceCode: { deviceAuthorizationUrl, tokenUrl, scopes: {} } } },
      }
      let received = ''
      const { url } = await startProtectedAgent({
        serve: {
          extensions: [credentials(), clientTools()],
          agent: ({ text }) => {
            if (text === 'go') return authRequired('Sign in to the calendar', { schemes: { calendar: scheme }, inBand })
            received = text
            return authorization.accepts(text) ? 'Signed in' : 'Refused'
          },
        },
      })
      const terminal = createMemoryTerminal({ isTerminal: true, environment: { NO_COLOR: '1' } })
      const type = (line: string): void => void (terminal.input as unknown as NodeJS.WritableStream).write(`${line}\n`)
      const ended = runA2a(['chat', '-a', url, '--client-id', 'me'], terminal)
      type('go')
      await terminal.untilOutput(inBand ? 'Secret (not shown, empty: later): ' : '[auth required] > ')
      assert.match(terminal.stdout, /Sign in to the calendar\nSign in with calendar \(OAuth 2: device code\)\n/)
      type('/login')
      await terminal.untilOutput('Signed in')
      assert.match(terminal.stdout, /enter the code ABCD-EFGH/)
      type('/exit')
      assert.equal(await ended, 0)
      assert.equal(received, 'access-1')
      assert.equal((terminal.stdout + terminal.stderr).includes('access-1'), false)
    })
})
