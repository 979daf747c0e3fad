/** Keys typed into the console: the hub keeps them, and no form writes one to the file. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, it } from 'node:test'
import { parse } from 'yaml'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const key = 'sk-typed-into-the-console'

async function openModel(): Promise<string> {
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${key}`
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(isKnown ? '{"data":[{"id":"tiny"}]}' : '{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describeInBrowser('a key that is typed into the console', async (browser) => {
  const model = await openModel()
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  const file = (): string => readFileSync(testHub.file, 'utf8')
  const entryOf = (name: string): any => parse(file()).agents[name]

  it('detects an agent, and is kept by the hub when the agent is added', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill(model)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Requires authentication', { exact: true }).waitFor()
    await page.getByLabel('Token', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Detect', exact: true }).click()
    const form = page.getByRole('form', { name: 'Detected agent' })
    assert.match(await form.getByLabel('the entry', { exact: true }).innerText(), /apiKey: "\$\{hub:tiny-token\}"/)
    await form.getByRole('button', { name: 'Add tiny' }).click()
    await page.waitForURL('**/agents/tiny')
    assert.equal(entryOf('tiny').apiKey, '${hub:tiny-token}')
    assert.equal((await testHub.ask('GET', '/admin/agents/tiny')).json.state, 'open')
    await page.close()
  })

  it('is kept by the hub from the form of a kind and from the settings of an agent', async () => {
    const page = await fixture.open('/agents/new?form=openai')
    await page.getByLabel('Agent name').fill('second')
    await page.getByLabel('baseUrl').fill(`${model}/v1`)
    await page.getByLabel('model required').fill('tiny')
    await page.getByText('More settings').click()
    await page.getByLabel('apiKey').fill('sk-typed-wrong')
    await page.getByLabel('headers').fill('{ "X-Team": "sk-typed-team" }')
    await page.getByRole('button', { name: 'Add second' }).click()
    await page.waitForURL('**/agents/second')
    assert.deepEqual(
      [entryOf('second').apiKey, entryOf('second').headers],
      ['${hub:second-api-key}', { 'X-Team': '${hub:second-x-team}' }],
    )
    await page.goto(`${testHub.url}/agents/second/settings`)
    const secret = page.getByLabel('apiKey', { exact: true })
    assert.equal(await secret.getAttribute('placeholder'), 'Kept as second-api-key (hidden)')
    await secret.fill(key)
    await page.getByText('Valid, not applied yet').waitFor()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No unsaved changes').waitFor()
    assert.equal(entryOf('second').apiKey, '${hub:second-api-key-2}')
    assert.doesNotMatch(file(), /sk-typed/)
    await page.close({ runBeforeUnload: false })
  })

  it('is listed under Settings without its value, replaced, and removed when no agent uses it', async () => {
    const page = await fixture.open('/settings/secrets')
    const rows = page.getByRole('list', { name: 'Secrets' }).getByRole('listitem')
    const row = rows.filter({ hasText: 'tiny-token' })
    await row.getByText('used by tiny').waitFor()
    await row.getByText('by admin').waitFor()
    assert.equal(await row.getByRole('button', { name: 'Remove tiny-token' }).count(), 0)
    await row.getByRole('button', { name: 'Replace tiny-token' }).click()
    await row.getByLabel('New value of tiny-token').fill('sk-typed-again')
    await row.getByRole('button', { name: 'Save' }).click()
    await page.getByText('tiny-token is set').first().waitFor()
    const add = page.getByRole('form', { name: 'Add secret' })
    await add.getByLabel('Name').fill('two words')
    await add.getByLabel('Value').fill('sk-typed-new')
    await add.getByRole('button', { name: 'Add secret' }).click()
    await add.getByText(/must have up to 100 letters/).waitFor()
    await add.getByLabel('Name').fill('unused')
    await add.getByRole('button', { name: 'Add secret' }).click()
    const unused = rows.filter({ hasText: 'unused' })
    await unused.getByText('used by no agent').waitFor()
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      assert.deepEqual(await seriousViolations(page), [])
    }
    await unused.getByRole('button', { name: 'Remove unused' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await unused.waitFor({ state: 'detached' })
    assert.doesNotMatch(await page.content(), /sk-typed/)
    await page.setViewportSize({ width: 390, height: 844 })
    assert.ok(await hasNoHorizontalScroll(page))
    await page.close()
  })

  it('follows the name of the agent in the form, and is removed with the agent', async () => {
    const page = await fixture.open('/agents/new')
    await page.getByLabel('URL, command or file').fill(model)
    await page.getByText('Requires authentication', { exact: true }).click()
    await page.getByLabel('Token', { exact: true }).fill('sk-wrong')
    await page.getByRole('button', { name: 'Detect', exact: true }).click()
    await page.getByRole('alert').getByText('The token was refused', { exact: true }).waitFor()
    await page.getByLabel('Token', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Detect', exact: true }).click()
    await page.getByRole('form', { name: 'Detected agent' }).getByLabel('Name').fill('helper')
    await page.getByRole('button', { name: 'Add helper' }).click()
    await page.waitForURL('**/agents/helper')
    assert.equal(entryOf('helper').apiKey, '${hub:helper-token}')
    await page.goto(`${testHub.url}/agents/helper/settings`)
    await page.getByRole('button', { name: 'Remove agent' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove helper from the configuration?' })
    const choice = dialog.getByLabel('Also remove the secret helper-token, which only this agent uses')
    assert.ok(await choice.isChecked())
    await dialog.getByRole('button', { name: 'Remove agent' }).click()
    await page.waitForURL('**/agents')
    await eventually(async () => {
      const { json } = await testHub.ask('GET', '/admin/secrets')
      return !json.secrets.some(({ name }: { readonly name: string }) => name === 'helper-token')
    }, 'the secret is removed')
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(
      fixture.pageErrors.filter((said) => !/status of 400/.test(said)),
      [],
    )
  })
})
