import { connect } from '@parley/a2a/client'
const agent = await connect('https://agent.example.com', { prefer: ['HTTP+JSON'] })
console.log(agent.interface.protocolBinding, agent.interface.version, agent.interface.why)

const pinned = await connect('https://agent.example.com', { version: '1.0' })
