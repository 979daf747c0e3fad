/**
 * Finds LangGraph's serializer in the packages of the graph's author: it revives messages as the classes that the graph uses.
 */
import { importInstalled } from '../import-installed.ts'
import type { GraphSerializer } from './turn-checkpointer.ts'

const packageName = '@langchain/langgraph'

/**
 * The serializer of the LangGraph that is installed for a file. Default: for the program that runs.
 *
 * Throws if there is none: pass `serializer`, or compile the graph with a checkpointer, which has one.
 */
export async function langGraphSerializer(file?: string): Promise<GraphSerializer> {
  try {
    const { MemorySaver } = await importInstalled(packageName, file)
    return new (MemorySaver as new () => { readonly serde: GraphSerializer })().serde
  } catch (cause) {
    throw new Error(`${packageName} was not found: compile the graph with a checkpointer, or pass serializer`, {
      cause,
    })
  }
}
