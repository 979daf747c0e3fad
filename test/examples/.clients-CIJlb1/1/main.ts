import { clearCardCache, connect, discover } from '@parley/a2a/client'

const card = await discover('https://agent.example.com') // null instead of an error
if (card !== null) console.log(card.skills.map((skill) => skill.name))

const agent = await connect(card ?? 'https://agent.example.com')
if (agent.card.capabilities.extendedAgentCard) await agent.extendedCard() // from now on this is agent.card
clearCardCache()
