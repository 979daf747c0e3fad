/** Operators read why an agent does not work, in every place that shows its health. Its callers do not. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import type { AgentSummary } from '../../packages/hub/src/admin/agent-summary.ts'
import { freePort } from '../free-port.ts'
import { call1_0 } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, startHub } from './running-hub.ts'

const errorBody = (message: string, code: string): string => JSON.stringify({ error: { message, code } })

/** An OpenAI-compatible endpoint with one valid key and these models. */
async function startEndpoint(models: readonly string[] = ['small']): Promise<string> {
  const server = createServer(({ url = '', headers }, response) => {
    const answer = (status: number, body: string): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    if (headers.authorization !== 'Bearer good') answer(401, errorBody('Incorrect API key provided', 'invalid_api_key'))
    else if (url.endsWith('/models')) answer(200, JSON.stringify({ data: models.map((id) => ({ id })) }))
    else answer(404, errorBody('No such model', 'model_not_found'))
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

describe('the cause of an agent that does not work', () => {
  it('is in the list, status, doctor, log and admin API, and not in the answer to a caller', async () => {
    const [baseUrl, port] = await Promise.all([startEndpoint(), freePort()])
    const folder = await newFolder({
      'parley.yaml': `agents:
  locked: { kind: openai, baseUrl: ${baseUrl}, model: small, apiKey: bad-key, access: { anonymous: true } }
  missing: { kind: openai, baseUrl: ${baseUrl}, model: smal, apiKey: good }
  helper: { kind: loop, model: missing }
  gone: { kind: a2a, url: "http://127.0.0.1:${port}/" }
  tool: { kind: command, command: [no-such-program] }
  editor: { kind: acp, command: [sh, -c, 'echo "no licence" >&2; exit 3'] }
  claw: { kind: openclaw, url: "ws://127.0.0.1:${port}/", token: a-token }
`,
    })
    const hub = await startHub(folder)
    const key = await hub.adminKey()
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: key }
    const run = async (...words: string[]): Promise<string> => (await runInProcess(folder, words, env)).lines.join('\n')
    const admin = async (path: string): Promise<unknown> =>
      (await fetch(`${hub.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()

    const sent = await fetch(`${hub.url}/a2a/locked/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } }),
    })
    const answer = await sent.text()
    assert.match(answer, /ask the operator/)
    assert.doesNotMatch(answer, /Incorrect|401/)

    const noModel = 'the endpoint has no model smal. Did you mean small? It has small'
    const causes: Readonly<Record<string, string>> = {
      locked: 'the endpoint returned 401: Incorrect API key provided (invalid_api_key)',
      missing: noModel,
      helper: `its model, the agent missing, cannot be used: ${noModel}`,
      tool: 'the program no-such-program does not exist',
      gone: `connect ECONNREFUSED 127.0.0.1:${port}`,
      editor: 'ACP connection closed (stderr: no licence)',
      claw: `connect ECONNREFUSED 127.0.0.1:${port}`,
    }
    const { agents } = (await admin('/admin/agents')) as { readonly agents: readonly AgentSummary[] }
    for (const { name, health, lastError } of agents) {
      assert.deepEqual([name, health.state, health.cause], [name, 'down', causes[name]])
      if (name === 'locked') assert.equal(lastError?.cause, causes['locked'])
    }
    for (const words of [['agent', 'list'], ['status'], ['doctor'], ['logs']]) {
      const text = await run(...words)
      for (const cause of Object.values(causes)) assert.ok(text.includes(cause), `${words.join(' ')}: ${text}`)
      assert.doesNotMatch(text, /fetch failed|ask the operator/, words.join(' '))
    }
    const doctor = await run('doctor')
    assert.match(doctor, /no-such-program does not exist\n +→ Install the program, or correct `command`/)
    assert.match(doctor, /ECONNREFUSED.*\n +→ Check that it runs, and its URL/)
    await hub.stop()
  })

  it('is the end of stderr for a program that failed, without the secrets of the configuration', async () => {
    const script = 'echo "shout: cannot open /etc/shout.conf with $PASS" >&2; exit 3'
    const command = JSON.stringify(['sh', '-c', script])
    const variables = '{ PASS: correct-horse-battery }'
    const folder = await newFolder({
      'parley.yaml': `agents:\n  shout: { kind: command, command: ${command}, env: ${variables}, access: { anonymous: true } }\n`,
    })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const run = async (...words: string[]): Promise<string> => (await runInProcess(folder, words, env)).lines.join('\n')
    const { text } = await call1_0(`${hub.url}/a2a/shout`, 'hi')
    assert.match(text, /The program ended with exit code 3/)
    assert.doesNotMatch(text, /shout\.conf/)
    const cause =
      '1 of 1 call failed in the last hour; the last failed task: shout: cannot open /etc/shout.conf with [redacted]'
    assert.ok((await run('status')).includes(`Errors   shout: ${cause}`))
    assert.ok((await run('doctor')).includes(`command, up; ${cause}`))
    await hub.stop()
  })

  it('comes with a remedy that works: a restart for an imported file that threw', async () => {
    const folder = await newFolder({
      'parley.yaml': `agents:\n  own: { kind: module, path: ./own.mjs }\n  part: { kind: module, path: ./part.mjs }\n`,
      'own.mjs': `throw new Error('no licence')\n`,
      'part.mjs': `import './imported.mjs'\n`,
      'imported.mjs': `throw new Error('no table')\n`,
    })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const doctor = (await runInProcess(folder, ['doctor'], env)).lines.join('\n')
    assert.match(doctor, /agent own +\.\/own\.mjs:1: no licence\n +→ Correct the file.* loads it again by itself\./)
    assert.match(doctor, /agent part +imported\.mjs, .*no table.*\n +→ Correct that file, then restart the hub\.$/m)
    await hub.stop()
  })

  it('is visible at once: doctor checks, and so does a reader after a failed task or a changed entry', async () => {
    const models = ['small', 'large']
    const baseUrl = await startEndpoint(models)
    const entry = (model: string): string =>
      `agents:\n  gpt: { kind: openai, baseUrl: "${baseUrl}", model: ${model}, apiKey: good, access: { anonymous: true } }\n`
    const folder = await newFolder({ 'parley.yaml': entry('small') })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const run = async (...words: string[]): Promise<string> => (await runInProcess(folder, words, env)).lines.join('\n')
    assert.match(await run('status'), /^Agents +1 of 1 up$/m)
    await writeFile(join(folder, 'parley.yaml'), entry('smal'))
    await hub.waitForLine(/gpt: changed/)
    assert.match(await run('status'), /^Agents +0 of 1 up; down: gpt \(.*the endpoint has no model smal\..*\)$/m)
    await writeFile(join(folder, 'parley.yaml'), entry('large'))
    await hub.waitForLine(/gpt: changed/, hub.lines.length)
    assert.match(await run('status'), /^Agents +1 of 1 up$/m)
    models.pop()
    assert.match(await run('doctor'), /^failed +agent gpt .*the endpoint has no model large/m)
    models.push('large')
    assert.match(await run('doctor'), /^ok +agent gpt +openai, up$/m)
    assert.match((await call1_0(`${hub.url}/a2a/gpt`, 'hi')).text, /ask the operator/)
    assert.match(await run('status'), /^Agents +0 of 1 up; down: gpt \(.*the endpoint returned 404: No such model/m)
    await hub.stop()
  })
})
