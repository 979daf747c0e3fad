/** Adding an agent in the console: detected by the hub, or entered in the form of its kind. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { parse } from 'yaml'
import { openCardServer } from './card-server.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('a new agent', async (browser) => {
  const forecast = await openCardServer()
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  const entryOf = (name: string): unknown => parse(readFileSync(testHub.file, 'utf8')).agents[name]

  it('is detected by its address, previewed, renamed and added', async () => {
    const page = await fixture.open('/agents')
    await page.getByRole('link', { name: 'Add an agent' }).click()
    await page.waitForURL('**/agents/new')
    await page.getByLabel('An address, or a command').fill(forecast.url)
    await page.keyboard.press('Enter')
    const form = page.getByRole('form', { name: 'What was found' })
    await form.getByText('It is an A2A agent').waitFor()
    await form.getByText('Forecast supports A2A 1.0 over JSONRPC.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await form.getByLabel('Name on this hub').fill('two words')
    await form.getByRole('button', { name: /^Add/ }).click()
    await form
      .getByRole('alert')
      .getByText(/a name is 1 to 64 letters/)
      .waitFor()
    await form.getByLabel('Name on this hub').fill('helper')
    assert.deepEqual(parse(await form.getByLabel('the entry', { exact: true }).innerText()), {
      agents: { helper: { kind: 'a2a', url: forecast.url } },
    })
    await form.getByRole('button', { name: 'Add helper' }).click()
    await page.waitForURL('**/agents/helper')
    await page.getByRole('heading', { name: 'Forecast', level: 2 }).waitFor()
    assert.deepEqual(entryOf('helper'), { kind: 'a2a', url: forecast.url })
    await page.close()
  })

  it('is detected by its command, parsed like a shell does', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('An address, or a command').fill(`${process.execPath} './shout.mjs'`)
    await page.getByRole('button', { name: 'Detect' }).click()
    const form = page.getByRole('form', { name: 'What was found' })
    await form.getByText('It is a program').waitFor()
    await form.getByLabel('Name on this hub').fill('louder')
    await form.getByRole('button', { name: 'Add louder' }).click()
    await page.waitForURL('**/agents/louder')
    assert.deepEqual(entryOf('louder'), { kind: 'command', command: [process.execPath, './shout.mjs'] })
    const task = await testHub.send('louder', 'quiet words')
    assert.match(JSON.stringify(task.artifacts), /QUIET WORDS/)
    await page.close()
  })

  it('is not guessed: the form lists the attempts and offers manual entry', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('An address, or a command').fill('http://127.0.0.1:9')
    await page.getByRole('button', { name: 'Detect' }).click()
    const tried = page.getByRole('region', { name: 'What was tried' })
    await tried.getByText(/^a2a: /).waitFor()
    await tried.getByText(/^mcp: /).waitFor()
    await tried.getByRole('link', { name: 'choose a kind by hand' }).click()
    await page.getByLabel('Kind', { exact: true }).last().waitFor()
    await page.close()
  })

  it('is entered in the form of its kind, which shows required fields and errors', async () => {
    const page = await fixture.open('/agents/new?form=openai')
    await page.getByLabel('Name on this hub').fill('thinker')
    await page.getByRole('button', { name: 'Add thinker' }).click()
    assert.equal(await page.getByText('is missing').count(), 2)
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('baseUrl').fill('nowhere')
    await page.getByLabel('model needed').fill('some-model')
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

  it('may be of any kind that the hub supports, selected in the address', async () => {
    const page = await fixture.open('/agents/new?form=')
    const kinds = page.locator('#kind')
    await kinds.selectOption('command')
    await page.waitForURL('**/agents/new?form=command')
    await page.getByLabel('Name on this hub').fill('hand-made')
    await page.getByLabel('command needed').fill(`${process.execPath} ./shout.mjs "two words"`)
    await page.getByRole('button', { name: 'Add hand-made' }).click()
    await page.waitForURL('**/agents/hand-made')
    assert.deepEqual(entryOf('hand-made'), { kind: 'command', command: [process.execPath, './shout.mjs', 'two words'] })
    await page.close()
  })

  it('cannot have the name of another agent', async () => {
    const page = await fixture.open('/agents/new?form=demo')
    await page.getByLabel('Name on this hub').fill('talker')
    await page.getByLabel('agent needed').selectOption('echo')
    await page.getByRole('button', { name: 'Add talker' }).click()
    await page.getByText('There is an agent talker already').waitFor()
    await page.close()
  })

  it('is added on a phone', async () => {
    for (const path of ['/agents/new', '/agents/new?form=a2a']) {
      const page = await fixture.open(path, { width: 390, height: 844, theme: 'dark' })
      await page.getByRole('heading', { name: 'Add an agent', level: 2 }).waitFor()
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
