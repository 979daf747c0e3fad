import { connect } from '@parley/a2a/client'
const agent = await connect('https://agent.example.com')
const task = await agent.send('Compare these', {
  files: [
    new File(['a,b\n1,2'], 'table.csv', { type: 'text/csv' }), // a File or Blob of the platform
    { bytes: new Uint8Array([1, 2, 3]), name: 'raw.bin', mediaType: 'application/octet-stream' },
    new URL('https://files.example.com/report.pdf'), // the agent fetches it itself
  ],
  data: { depth: 2 },
  acceptedOutputModes: ['text/plain'],
  historyLength: 10,
})
console.log(task.kind)
