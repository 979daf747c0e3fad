import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { checkConfig } from '../config/check-config.ts'
import type { HubConfig } from '../config/hub-config.ts'
import { demoConfig } from '../demo/index.ts'
import { withLocalWebhooks } from './serve-options.ts'

function configOf(tree: object, file?: string): HubConfig {
  const checked = checkConfig({ ...demoConfig, ...tree }, { kinds: agentKinds, baseDir: '/', file })
  assert.ok('config' in checked, JSON.stringify(checked))
  return checked.config
}

const refused = 'must be at a public address, or at a host that the operator lists in push.allow'
const local = ['http://127.0.0.1:8090/hook', 'http://localhost:8090/hook', 'http://[::1]:8090/hook']

describe('webhooks on this machine', () => {
  it('are accepted without a configuration file, while the hub listens on loopback [B-129]', () => {
    let current = configOf({})
    const { validateUrl } = withLocalWebhooks({}, () => current)
    const answers = (urls: readonly string[]) => urls.map((url) => validateUrl?.(new URL(url)))
    assert.deepEqual(answers(local), [undefined, undefined, undefined])
    // The rest of the network of the hub stays closed.
    const inside = ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://192.168.0.1/']
    assert.deepEqual(answers(inside), [refused, refused, refused])

    current = configOf({}, '/parley.yaml')
    assert.deepEqual(answers(local), [refused, refused, refused])
    current = configOf({ listen: { host: '0.0.0.0' } })
    assert.deepEqual(answers(local), [refused, refused, refused])
  })

  it('are accepted with a configuration file as far as push.allow lists them [B-129]', () => {
    const push = { allow: ['127.0.0.1'] }
    const { validateUrl } = withLocalWebhooks(push, () => configOf({ push }, '/parley.yaml'))
    assert.equal(validateUrl?.(new URL('http://127.0.0.1/')), undefined)
    assert.equal(validateUrl?.(new URL('http://[::1]/')), refused)
  })
})
