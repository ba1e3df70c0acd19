import { Center, Loader } from '@mantine/core'

/** Stands for a page until its script is here. */
export const PageLoading = () => (
  <Center h="60vh" role="status" aria-label="Loading">
    <Loader size="sm" type="dots" />
  </Center>
)
