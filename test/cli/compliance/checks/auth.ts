/** Checks of credentials: where they are sent, and where they never appear. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecurityScheme } from '@parley/a2a'
import { selfSigned } from '../../outside-fixtures.ts'
import { wellKnownPath, type FixtureOptions } from '../../fixture/fixture-agent.ts'
import { finishedTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

/** An agent that requires one scheme, and lets a call pass if `isRight` finds the credential. */
export function secured(
  scheme: SecurityScheme,
  isRight: (credentials: { header(name: string): string | undefined; readonly query: string }) => boolean,
): FixtureOptions {
  return {
    settings: {
      authenticate: (credentials) => (isRight(credentials) ? { id: 'caller' } : undefined),
      securitySchemes: { main: scheme },
      securityRequirements: [{ schemes: { main: { list: [] } } }],
    },
  }
}

export const bearer = (token: string): FixtureOptions =>
  secured(
    { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    ({ header }) => header('authorization') === `Bearer ${token}`,
  )

const apiKey = (location: 'header' | 'query' | 'cookie', name: string): FixtureOptions =>
  secured({ apiKeySecurityScheme: { location, name } }, ({ header, query }) => {
    if (location === 'header') return header(name) === 'k3y-s3cret'
    return location === 'query' ? query.includes(`${name}=k3y-s3cret`) : header('cookie') === `${name}=k3y-s3cret`
  })

export const authChecks: Checks = {
  async A2ACLI_AUTH_001(bench) {
    const withToken = await bench.agent(bearer('t0ken-s3cret'))
    await bench.a2a(['send', '-a', withToken.url, '--bearer', 't0ken-s3cret', 'complete'], {
      shows: 'sends the token as the card declares',
    })
    for (const location of ['header', 'query', 'cookie'] as const) {
      const agent = await bench.agent(apiKey(location, 'x-fixture-key'))
      await bench.a2a(['send', '-a', agent.url, 'complete'], {
        env: { A2ACLI_API_KEY: 'k3y-s3cret' },
        shows: `sends the API key in the declared ${location}`,
      })
    }
    const open = await bench.agent()
    await bench.a2a(
      ['send', '-a', open.url, '--svc-param', 'x-trace-id:abc123', '--svc-param', 'x-team=blue', 'complete'],
      {
        shows: 'sends service parameters as headers of every request',
      },
    )
    for (const { path, headers } of open.server.requests) {
      assert.deepEqual([headers['x-trace-id'], headers['x-team']], ['abc123', 'blue'], path)
      assert.doesNotMatch(path, /abc123/)
    }
    const help = await bench.a2a(['help'], { shows: 'does not describe --svc-param as authentication' })
    const about = /--svc-param[\s\S]*?--metadata/.exec(help.stdout)?.[0] ?? ''
    assert.notEqual(about, '')
    assert.doesNotMatch(about, /auth|credential|token/i)
    const unfit = await bench.a2a(['send', '-a', open.url, '-o', 'json', '--api-key', 'k3y-s3cret', 'complete'], {
      exit: (await keyWithoutScheme()).exit,
      shows: 'sends no API key to an agent that declares no place for it',
    })
    assert.ok(
      open.server.requests.every(({ headers, path }) => !JSON.stringify([headers, path]).includes('k3y-s3cret')),
    )
    assert.doesNotMatch(unfit.stdout + unfit.stderr, /k3y-s3cret/)
  },

  async A2ACLI_AUTH_002(bench) {
    const agent = await bench.agent(bearer('t0ken-flag'))
    const denied = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-environment' },
      exit: 4,
      shows: 'reads the token from A2ACLI_BEARER, here a wrong one',
    })
    assert.equal(denied.json<JsonError>().error.code, 'A2ACLI_ERR_AUTH_FAILED')
    await bench.a2a(['send', '-a', agent.url, '--bearer', 't0ken-flag', 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-environment' },
      shows: 'prefers the option',
    })
    const help = await bench.a2a(['help'], { shows: 'names the variables, and the exposure of the options' })
    for (const word of ['A2ACLI_BEARER', 'A2ACLI_API_KEY', 'process table', 'history'])
      assert.match(help.stdout, new RegExp(word.replace(' ', '\\s+')))
  },

  async A2ACLI_AUTH_003(bench) {
    const tls = selfSigned('localhost')
    const agent = await bench.agent({ ...bearer('t0ken-s3cret'), tls })
    const untrusted = await bench.a2a(['card', 'get', '-a', agent.url, '-o', 'json'], {
      exit: 3,
      shows: 'refuses a certificate that it cannot verify',
    })
    assert.equal(untrusted.json<JsonError>().error.code, 'A2ACLI_ERR_UNREACHABLE')
    const card = await bench.a2a(['card', 'get', '-a', agent.url, '--insecure'], {
      shows: 'warns that verification is off',
    })
    assert.match(card.stderr, /warning/i)
    const run = await bench.a2a(['send', '-a', agent.url, '--insecure', '-o', 'json', 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-s3cret' },
      shows: 'warns that the credential goes over an unverified connection',
    })
    assert.match(run.stderr, /warning/i)
    assert.match(run.stderr, /credential|token/i)
    assert.deepEqual(Object.keys(run.json()), ['task'])
    const trusted = join(bench.folder, 'ca.pem')
    await writeFile(trusted, tls.cert)
    const safe = await bench.a2a(['send', '-a', agent.url, '--ca-cert', 'ca.pem', 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-s3cret' },
      shows: 'does not warn if an authority of yours vouches for the certificate',
    })
    assert.doesNotMatch(safe.stderr, /unverified|not verified/i)
  },

  async A2ACLI_AUTH_004(bench) {
    const agent = await bench.agent(bearer('t0ken-s3cret'))
    const run = await bench.a2a(
      [
        'send',
        '-a',
        agent.url,
        '--debug',
        '--verbose',
        '--svc-param',
        'x-session:p4ram-s3cret',
        'echo',
        '--metadata',
        '{"note":"t0ken-s3cret"}',
      ],
      { env: { A2ACLI_BEARER: 't0ken-s3cret' }, shows: 'redacts the token and the service parameter in the wire log' },
    )
    assert.doesNotMatch(run.stderr, /t0ken-s3cret|p4ram-s3cret/)
    assert.match(run.stderr, /redacted|\*\*\*/i)
    const inQuery = await bench.agent(apiKey('query', 'key'))
    const query = await bench.a2a(['send', '-a', inQuery.url, '--debug', 'complete'], {
      env: { A2ACLI_API_KEY: 'k3y-s3cret' },
      shows: 'redacts a key in the query of the logged URL',
    })
    assert.doesNotMatch(query.stdout + query.stderr, /k3y-s3cret/)
    const echoing = await bench.agent()
    echoing.server.rules.push(({ method }) =>
      method === 'POST' ? { answer: new Response('bad token t0ken-s3cret', { status: 403 }) } : undefined,
    )
    const failed = await bench.a2a(['send', '-a', echoing.url, '-o', 'json', '--debug', 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-s3cret' },
      exit: 4,
      shows: 'redacts a token that the agent echoes in an error',
    })
    assert.doesNotMatch(failed.stdout + failed.stderr, /t0ken-s3cret/)
    const shown = await bench.a2a(['config', 'show'], {
      env: { A2ACLI_BEARER: 't0ken-s3cret', A2ACLI_API_KEY: 'k3y-s3cret' },
      shows: 'redacts credentials in the list of settings',
    })
    assert.doesNotMatch(shown.stdout, /t0ken-s3cret|k3y-s3cret/)
  },

  async A2ACLI_AUTH_008(bench) {
    const agent = await bench.agent(bearer('t0ken-s3cret'))
    await bench.a2a(['send', '-a', agent.url, 'complete'], {
      env: { A2ACLI_BEARER: 't0ken-s3cret' },
      shows: 'sends the token with the call and not with the request for the card',
    })
    const [forCard, ...calls] = agent.server.requests
    assert.equal(forCard?.path, wellKnownPath)
    assert.equal(forCard?.headers['authorization'], undefined)
    assert.ok(calls.length > 0 && calls.every(({ headers }) => headers['authorization'] === 'Bearer t0ken-s3cret'))
    const open = await bench.agent()
    await (
      await bench.start(['send', '-a', open.url, 'complete'], { env: { A2ACLI_BEARER: 't0ken-s3cret' } })
    ).ended
    assert.ok(open.server.requests.every(({ headers }) => headers['authorization'] === undefined))
    bench.shows('An agent whose card declares no scheme gets no token.')
    const other = await bench.agent(bearer('t0ken-s3cret'))
    const elsewhere = await bench.agent({
      ...bearer('t0ken-s3cret'),
      card: (card) => ({
        ...card,
        supportedInterfaces: [
          {
            url: `${other.url.replace('127.0.0.1', 'localhost')}/`,
            protocolBinding: 'JSONRPC',
            protocolVersion: '1.0',
          },
        ],
      }),
    })
    const run = await (
      await bench.start(['send', '-a', elsewhere.url, '-o', 'json', 'complete'], {
        env: { A2ACLI_BEARER: 't0ken-s3cret' },
      })
    ).ended
    if (run.code === 0) assert.match(run.stderr, /origin|host/i)
    else assert.ok(other.server.requests.every(({ headers }) => headers['authorization'] === undefined))
    bench.shows('A card that names an interface of another origin gets a warning or a refusal before a token is sent.')
  },

  async A2ACLI_AUTH_011(bench) {
    const agent = await bench.agent()
    const asked = await bench.a2a(['send', '-a', agent.url, 'auth'], {
      shows: 'shows what the agent asks for at AUTH_REQUIRED, and the command to resume',
    })
    assert.equal(asked.values('State').at(-1), 'TASK_STATE_AUTH_REQUIRED')
    assert.match(asked.stdout, /login\.example\.com/)
    assert.match(asked.values('Resume')[0] ?? asked.stderr, /a2a /)
    const [taskId = ''] = asked.values('Task ID')
    const answered = await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--task-id', taskId, 'code 1234'], {
      shows: 'continues the task with the credential of the user',
    })
    assert.equal(answered.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
    const again = await finishedTask(bench, agent, 'auth')
    const waiting = await bench.start(['task', 'subscribe', again.id, '-a', agent.url, '-o', 'json', '--stream'])
    await waiting.ended
  },
}

/** An API key for a card without a scheme is an error with a hint. */
async function keyWithoutScheme(): Promise<{ readonly exit: number }> {
  return { exit: 2 }
}
