/** A graph of LangGraph that asks before it books. It needs no checkpointer: its thread is kept with the task. */
import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph'

/** Replace the model by yours, such as `new ChatOpenAI({ model: 'gpt-5' })`. */
const model = new FakeListChatModel({ responses: ['A room with a view.'] })

export const agent = new StateGraph(MessagesAnnotation)
  .addNode('suggest', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
  .addNode('book', () => {
    const nights = interrupt({ question: 'For how many nights?' })
    return { messages: [new AIMessage(`Booked for ${nights} nights.`)] }
  })
  .addEdge(START, 'suggest')
  .addEdge('suggest', 'book')
  .compile()
