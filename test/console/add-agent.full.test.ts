/** Adding an agent in the console: detected by the hub, or entered in the form of its kind. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, it } from 'node:test'
import { parse } from 'yaml'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { freePort } from '../free-port.ts'
import { openCardServer } from './card-server.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

/** A server that is no agent. */
async function openWebServer(answer: (path: string) => { status: number; type: string }): Promise<string> {
  const server = createServer((request, response) => {
    const { status, type } = answer(request.url ?? '')
    response.writeHead(status, { 'content-type': type }).end('<p>hello')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describeInBrowser('a new agent', async (browser) => {
  const forecast = await openCardServer()
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  const entryOf = (name: string): unknown => parse(readFileSync(testHub.file, 'utf8')).agents[name]

  it('is detected by its address, previewed, renamed and added', async () => {
    const page = await fixture.open('/agents')
    await page.getByRole('link', { name: 'Add agent' }).click()
    await page.waitForURL('**/agents/new')
    await page.getByLabel('URL, command or file').fill(forecast.url)
    await page.keyboard.press('Enter')
    const form = page.getByRole('form', { name: 'Detected agent' })
    await form.getByText('Detected an A2A agent').waitFor()
    await form.getByText('Forecast supports A2A 1.0 over JSONRPC.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await form.getByLabel('Agent name').fill('two words')
    await form.getByRole('button', { name: /^Add/ }).click()
    await form
      .getByRole('alert')
      .getByText(/a name is 1 to 64 letters/)
      .waitFor()
    await form.getByLabel('Agent name').fill('helper')
    assert.deepEqual(parse(await form.getByLabel('the entry', { exact: true }).innerText()), {
      agents: { helper: { kind: 'a2a', url: forecast.url } },
    })
    await form.getByRole('button', { name: 'Add helper' }).click()
    await page.waitForURL('**/agents/helper')
    await page.getByRole('heading', { name: 'Forecast', level: 2 }).waitFor()
    assert.deepEqual(entryOf('helper'), { kind: 'a2a', url: forecast.url })
    await page.close()
  })

  it('is found at host:port, and added under a name that is free', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill(`${new URL(testHub.url).host}/a2a/talker`)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Add talker-2' }).click()
    await page.waitForURL('**/agents/talker-2')
    assert.deepEqual(entryOf('talker-2'), { kind: 'a2a', url: `${testHub.url}/a2a/talker` })
    await page.close()
  })

  it('is detected by its command, parsed like a shell does', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill(`${process.execPath} './shout.mjs'`)
    await page.getByRole('button', { name: 'Detect' }).click()
    const form = page.getByRole('form', { name: 'Detected agent' })
    await form.getByText('Detected a command').waitFor()
    await form.getByLabel('Agent name').fill('louder')
    await form.getByRole('button', { name: 'Add louder' }).click()
    await page.waitForURL('**/agents/louder')
    assert.deepEqual(entryOf('louder'), { kind: 'command', command: [process.execPath, './shout.mjs'] })
    const task = await testHub.send('louder', 'quiet words')
    assert.match(JSON.stringify(task.artifacts), /QUIET WORDS/)
    await page.close()
  })

  it('is not guessed: one diagnosis with its cause and advice, the attempts folded, and the kinds to choose from', async () => {
    const page = await fixture.open('/agents/new')
    const port = await freePort()
    await page.getByLabel('URL, command or file').fill(`http://127.0.0.1:${port}`)
    await page.getByRole('button', { name: 'Detect' }).click()
    const failure = page.getByRole('alert')
    await failure.getByText(`Nothing is listening on port ${port}`).waitFor()
    await failure.getByText(`connect ECONNREFUSED 127.0.0.1:${port}`, { exact: true }).waitFor()
    await failure.getByText('Start the agent, or check the host and the port.').waitFor()
    const attempts = failure.getByText(/^a2a, mcp, openai: connect ECONNREFUSED/)
    assert.equal(await attempts.isVisible(), false)
    await failure.getByText('Details').click()
    await attempts.waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    // Started meanwhile.
    const server = await serve({ name: 'Late', agent: () => 'hi', store: memoryStore(), port, quiet: true })
    await failure.getByRole('button', { name: 'Detect again' }).click()
    await page.getByRole('form', { name: 'Detected agent' }).waitFor()
    await server.close()
    await page.close()
  })

  it('has a diagnosis for a page, missing credentials and a command that does not exist', async () => {
    const url = await openWebServer((path) =>
      path.startsWith('/private') ? { status: 401, type: 'text/plain' } : { status: 200, type: 'text/html' },
    )
    const page = await fixture.open('/agents/new')
    for (const [target, title] of [
      [url, 'This is a web page, not an agent'],
      [`${url}/private`, 'Requires authentication'],
      ['no-such-program --flag', 'Command not found: no-such-program'],
      ['./missing.ts', 'File not found: ./missing.ts'],
    ] as const) {
      await page.getByLabel('URL, command or file').fill(target)
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText(title, { exact: true }).waitFor()
      assert.equal(await page.getByLabel('Token', { exact: true }).isVisible(), title === 'Requires authentication')
    }
    await page.close()
  })

  it('is canceled while a program is probed, which shows the elapsed time', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill('sleep 600')
    await page.keyboard.press('Enter')
    await page
      .getByRole('timer')
      .getByText(/^[1-9]\d*\.\d s$/)
      .waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Detect' }).waitFor()
    assert.equal(await page.getByRole('timer').count(), 0)
    assert.equal(await page.getByRole('alert').count(), 0)
    await page.close()
  })

  it('is entered in the form of its kind, which shows required fields and errors', async () => {
    const page = await fixture.open('/agents/new?form=openai')
    await page.getByLabel('Agent name').fill('thinker')
    await page.getByRole('button', { name: 'Add thinker' }).click()
    assert.equal(await page.getByText('is required').count(), 2)
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('baseUrl').fill('nowhere')
    await page.getByLabel('model required').fill('some-model')
    await page.getByText('More settings').click()
    await page.getByLabel('options').fill('{ "temperature": 0.2 }')
    await page.getByLabel('retries').fill('2')
    await page.getByRole('button', { name: 'Add thinker' }).click()
    await page.getByText(/give an http or https url/).waitFor()
    assert.equal(await page.getByLabel('baseUrl').getAttribute('aria-invalid'), 'true')
    await page.getByLabel('baseUrl').fill('http://127.0.0.1:9/v1')
    await page.getByText('Card, limits and access').click()
    await page.getByLabel('description', { exact: true }).fill('Thinks, slowly.')
    await page.getByRole('button', { name: 'Add thinker' }).click()
    await page.waitForURL('**/agents/thinker')
    assert.deepEqual(entryOf('thinker'), {
      kind: 'openai',
      baseUrl: 'http://127.0.0.1:9/v1',
      model: 'some-model',
      options: { temperature: 0.2 },
      retries: 2,
      description: 'Thinks, slowly.',
    })
    await page.close()
  })

  it('may be of any kind that the hub supports, selected by a card', async () => {
    const page = await fixture.open('/agents/new')
    const cards = page.getByRole('list', { name: 'Agent kinds' }).getByRole('link')
    await cards.first().waitFor()
    const { json } = await testHub.ask('GET', '/admin/kinds')
    assert.equal(await cards.count(), json.kinds.length)
    await cards.filter({ hasText: 'Any program: a message on stdin, the answer on stdout.' }).click()
    await page.waitForURL('**/agents/new?form=command')
    await page.getByLabel('Agent name').fill('hand-made')
    await page.getByLabel('command required').fill(`${process.execPath} ./shout.mjs "two words"`)
    await page.getByRole('button', { name: 'Add hand-made' }).click()
    await page.waitForURL('**/agents/hand-made')
    assert.deepEqual(entryOf('hand-made'), { kind: 'command', command: [process.execPath, './shout.mjs', 'two words'] })
    await page.close()
  })

  it('cannot have the name of another agent', async () => {
    const page = await fixture.open('/agents/new?form=demo')
    await page.getByLabel('Agent name').fill('talker')
    await page.getByLabel('agent required').selectOption('echo')
    await page.getByRole('button', { name: 'Add talker' }).click()
    await page.getByText('There is an agent talker already').waitFor()
    await page.close()
  })

  it('is added on a phone', async () => {
    for (const path of ['/agents/new', '/agents/new?form=a2a']) {
      const page = await fixture.open(path, { width: 390, height: 844, theme: 'dark' })
      await page.getByRole('heading', { name: 'Add agent', level: 2 }).waitFor()
      assert.deepEqual(await seriousViolations(page), [])
      assert.ok(await hasNoHorizontalScroll(page))
      await page.keyboard.press('Escape')
      await page.waitForURL('**/agents')
      await page.close()
    }
  })

  it('causes no page errors', () => {
    assert.deepEqual(
      fixture.pageErrors.filter((said) => !/status of (400|409)/.test(said)),
      [],
    )
  })
})
