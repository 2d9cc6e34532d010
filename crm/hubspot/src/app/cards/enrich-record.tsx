import {
  Button,
  Flex,
  hubspot,
  LoadingButton,
  LoadingSpinner,
  Select,
  Text,
  type CrmContext,
  type ExtensionPointApiActions,
} from '@hubspot/ui-extensions'
import { useEffect, useRef, useState } from 'react'
import {
  createPaydirt,
  follow,
  Problem,
  recipesOf,
  recordRef,
  type Answer,
  type RecordRef,
  type Result,
} from './paydirt-client.ts'
import { ProblemView, ResultView } from './result-view.tsx'

type Phase = 'loading' | 'idle' | 'asking' | 'following' | 'left'

interface Props {
  context: CrmContext
  actions: Pick<ExtensionPointApiActions<'crm.record.sidebar'>, 'refreshObjectProperties'>
  /** How time passes; a test lets it pass faster. */
  sleep?: (ms: number) => Promise<void>
}

/** The card: the last result of the record, a button, and what becomes of the task while somebody looks. */
export function EnrichRecord({ context, actions, sleep = realSleep }: Props) {
  const recipes = recipesOf(context.variables?.['PAYDIRT_RECIPES'])
  const [recipe, setRecipe] = useState(recipes[0])
  const [phase, setPhase] = useState<Phase>('loading')
  const [result, setResult] = useState<Result>()
  const [task, setTask] = useState<Answer>()
  const [problem, setProblem] = useState<Problem>()
  const { objectTypeId, objectId } = context.crm
  // Counts the record shown and the presses: an answer to an earlier one is no longer wanted.
  const turn = useRef(0)

  const paydirt = createPaydirt({ url: context.variables?.['PAYDIRT_URL'], fetch: hubspot.fetch })

  const during = async (work: (record: RecordRef, isMine: () => boolean) => Promise<void>) => {
    const mine = ++turn.current
    const isMine = () => turn.current === mine
    setProblem(undefined)
    try {
      await work(recordRef(objectTypeId, objectId), isMine)
    } catch (error) {
      if (!isMine()) return
      setProblem(error instanceof Problem ? error : unexpected(error))
      setPhase('idle')
    }
  }

  const showLast = () =>
    during(async (record, isMine) => {
      setPhase('loading')
      setTask(undefined)
      setResult(undefined)
      const last = await paydirt.last(record)
      if (!isMine()) return
      setResult(last)
      setPhase('idle')
    })

  const watch = async (record: RecordRef, first: Answer, isMine: () => boolean) => {
    const show = (answer: Answer) => {
      if (!isMine()) return
      setTask(answer)
      setResult(answer)
    }
    show(first)
    if (!first.done && isMine()) setPhase('following')
    const answer = await follow({
      first,
      ask: (taskId) => paydirt.task(record, taskId),
      onAnswer: show,
      pause: async (ms) => {
        await sleep(ms)
        return isMine()
      },
    })
    if (!isMine()) return
    setPhase(answer.done ? 'idle' : 'left')
    if (answer.status === 'written') actions.refreshObjectProperties()
  }

  const enrich = () =>
    during(async (record, isMine) => {
      setPhase('asking')
      await watch(record, await paydirt.enrich(record, recipe), isMine)
    })

  const lookAgain = () =>
    during(async (record, isMine) => {
      if (!task) return
      setPhase('following')
      await watch(record, await paydirt.task(record, task.taskId), isMine)
    })

  useEffect(() => {
    void showLast()
    return () => {
      turn.current += 1
    }
    // The record alone decides what is shown first.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [objectTypeId, objectId])

  const busy = phase === 'asking' || phase === 'following'
  return (
    <Flex direction="column" gap="sm">
      {problem && <ProblemView problem={problem} />}
      {phase === 'loading' && <LoadingSpinner label="Reading the last result" showLabel />}
      {phase === 'idle' && !result && !problem && <Text>This record was not enriched yet.</Text>}
      {result && <ResultView result={result} />}
      {recipes.length > 1 && (
        <Select
          label="What to look up"
          name="recipe"
          value={recipe ?? ''}
          readOnly={busy}
          options={recipes.map((name) => ({ label: recipeLabels[name] ?? name, value: name }))}
          onChange={(value) => setRecipe(String(value))}
        />
      )}
      {phase === 'left' && (
        <Button onClick={() => void lookAgain()} variant="secondary">
          Look again
        </Button>
      )}
      <LoadingButton
        variant="primary"
        loading={busy}
        disabled={phase === 'loading'}
        onClick={() => void enrich()}
      >
        Enrich
      </LoadingButton>
    </Flex>
  )
}

const recipeLabels: Record<string, string> = {
  profile: 'Profile',
  contact: 'Contact details',
  full: 'Everything',
}

function unexpected(error: unknown): Problem {
  return new Problem(
    error instanceof Error ? error.message : 'Something went wrong in this card.',
    'Reload the page. Nothing is paid for twice by asking again.',
  )
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
