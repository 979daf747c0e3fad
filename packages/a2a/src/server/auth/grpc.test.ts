import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentials } from '@grpc/grpc-js'
import { connect } from '../../client/connect.ts'
import { grpc } from '../../client/grpc/grpc-binding.ts'
import { modern, openGrpcServers, grpcMessageRequest } from '../../testing/fixtures/grpc-server.ts'
import { selfSigned } from '../../testing/fixtures/self-signed-certificate.ts'
import { bearer, mtls } from '../index.ts'

const { open, client } = openGrpcServers()
const skills = [
  {
    id: 'pay',
    name: 'Pay',
    description: 'Pays',
    tags: ['money'],
    securityRequirements: [{ schemes: { bearer: { list: ['pay'] } } }],
  },
]

describe('schemes over gRPC', () => {
  it('are the same: a caller that is unauthenticated, or lacks the scope of a skill, gets the challenge as metadata [B-151 B-154 B-168]', async () => {
    const authenticate = bearer({ verify: (token) => ({ id: 'ann', scopes: [token] }) })
    const { grpcPort } = await open({ agent: () => 'paid', authenticate, skills })
    const peer = client(grpcPort)
    const pay = { ...grpcMessageRequest(), metadata: { skillId: 'pay' } }
    const as = (token: string) => ({ metadata: { authorization: `Bearer ${token}` } })
    const unknown = await peer.refused(modern, 'SendMessage', pay)
    assert.deepEqual([unknown.code, unknown.metadata.get('www-authenticate')], [16, ['Bearer']])
    const poor = await peer.refused(modern, 'SendMessage', pay, as('read'))
    assert.deepEqual([poor.code, poor.reason], [7, 'PERMISSION_DENIED'])
    assert.deepEqual(poor.metadata.get('www-authenticate'), ['Bearer error="insufficient_scope", scope="pay"'])
    const { payload } = await peer.call(modern, 'SendMessage', pay, as('pay'))
    assert.equal(payload.task.status.state, 'TASK_STATE_COMPLETED')
  })

  it('authenticate a caller by the certificate of the connection [B-150 B-168]', async () => {
    const own = selfSigned('localhost')
    const known = selfSigned('billing')
    const grpcTls = { ...own, clientCa: known.cert }
    const { grpcPort } = await open({ agent: ({ caller }) => caller.id, authenticate: mtls(), grpcTls })
    const [ca, key, cert] = [own.cert, known.key, known.cert].map((text) => Buffer.from(text)) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    const peer = client(grpcPort, credentials.createSsl(ca, key, cert), 'localhost')
    const { payload } = await peer.call(modern, 'SendMessage', grpcMessageRequest())
    assert.equal(payload.task.artifacts[0].parts[0].text, 'CN=billing|CN=billing')
  })
})

describe('a signed extended card over gRPC', () => {
  it('is verified like any other [B-29 B-31 B-168]', async () => {
    const authenticate = bearer({ verify: () => ({ id: 'ann', scopes: ['pay'] }) })
    const extendedCard = { description: 'More' }
    const over = { agent: () => 'paid', authenticate, skills, extendedCard, signing: true, hosts: ['127.0.0.1'] }
    const { url } = await open(over)
    const agent = await connect(url, { bearer: 't', verify: 'require', bindings: [grpc()], prefer: ['GRPC'] })
    assert.equal(agent.interface.protocolBinding, 'GRPC')
    assert.equal((await agent.extendedCard()).description, 'More')
    assert.equal(agent.signature.status, 'verified')
  })
})
