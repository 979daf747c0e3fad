/** Agent cards: every path and version, conditional requests, extended and private ones, keys. */
import { across, allVariants, type Conversation, once } from '../conversation.ts'

const paths = [
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/a2a/main/.well-known/agent-card.json',
  '/a2a/plain/.well-known/agent-card.json',
  '/a2a/strict/.well-known/agent.json',
  '/a2a/main/agent-card',
  '/a2a/absent/.well-known/agent-card.json',
]

export const cards: readonly Conversation[] = [
  ...paths.flatMap((path) => once(`the card at ${path}`, async ({ http }) => void (await http('GET', path)))),
  ...['1.0', '0.3', '0.2', '9.9'].flatMap((version) =>
    once(`the card for version ${version}`, async ({ http }) => {
      await http('GET', '/a2a/main/.well-known/agent-card.json', { headers: { 'a2a-version': version } })
      await http('GET', `/a2a/main/.well-known/agent-card.json?a2a-version=${version}`)
    }),
  ),
  ...once('a card that has not changed, and methods that a card has not', async ({ http }) => {
    const path = '/a2a/main/.well-known/agent-card.json'
    const card = await http('HEAD', path)
    await http('GET', path, { headers: { 'if-none-match': card.header('etag') } })
    await http('GET', path, { headers: { 'if-none-match': '"other"' } })
    await http('POST', path, { body: {} })
    await http('OPTIONS', path)
  }),
  ...across(
    allVariants.filter(({ version, binding }) => version !== '0.2' || binding !== 'JSONRPC'),
    'an extended card that is not configured, protected or served',
    async ({ call }) => {
      await call('GetExtendedCard')
      await call('GetExtendedCard', {}, { as: 'nobody' })
      await call('GetExtendedCard', {}, { as: 'bob' })
      await call('GetExtendedCard', {}, { as: 'ann', agent: 'secret' })
    },
  ),
  ...once('the extended card of 0.2', async ({ http }) => {
    await http('GET', '/a2a/main/agent/authenticatedExtendedCard')
    await http('GET', '/a2a/main/agent/authenticatedExtendedCard', { as: 'nobody' })
    await http('GET', '/a2a/main/agent/authenticatedExtendedCard', { as: 'bob' })
  }),
  ...once('a signed card and its keys', async ({ http }) => {
    await http('GET', '/a2a/main/.well-known/agent-card.json', { as: 'nobody' })
    await http('GET', '/.well-known/jwks.json', { as: 'nobody' })
    await http('GET', '/.well-known/jwks.json')
  }),
  ...once('a private card', async ({ http }) => {
    const path = '/a2a/secret/.well-known/agent-card.json'
    await http('GET', path, { as: 'nobody' })
    await http('GET', path, { as: 'bob' })
    await http('GET', path, { as: 'ann' })
  }),
]
