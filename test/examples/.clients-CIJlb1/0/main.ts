import { connect } from '@parley/a2a/client'

const agent = await connect('https://agent.example.com', { bearer: process.env.TOKEN })
console.log(agent.card.name, agent.interface) // what was chosen, and why

const answer = await agent.ask('Summarise the attached', { files: [pdf] }) // a string
for await (const chunk of agent.stream('Write a report').text()) process.stdout.write(chunk)

const result = await agent.send('Question') // Task or Message, told apart by `kind`
const task = await agent.start('Long job') // always a Task, at once
for await (const event of agent.subscribe(task.id)) {
  // survives disconnects, each event once
}

const chat = agent.chat({ onInputRequired: (question) => prompt(question.text) })
await chat.send('Book a flight')
await chat.send('Tomorrow')
