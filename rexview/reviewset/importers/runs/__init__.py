"""Logs of programs that run models: Inspect, lmms-eval, VLMEvalKit, OpenAI batches."""
