// The Curate page's data for the pad of the experts' sample (curate/question_sample.py).

import type { TaskData } from "../../../pad/assets/types.d.ts";

/** A person's judgment of a question. */
export type Word = {
	passed: boolean | null;
	defect: string | null;
	comment: string | null;
};
export type Asked = {
	id: string;
	question: string;
	options: string[];
	/** Counted from 0. */
	correct: number | null;
	explanation: string;
	statement: string;
	facts: string[];
	by: string;
	given: { validate: Word | null };
	/** Defective or undecided ones; number passed; number not yet judged. */
	checks: { name: string; says: string; failed: boolean; reason: string; by: string }[];
	passed: number;
	untold: string[];
};
export type Shares = {
	sample: number;
	of: number;
	read: number;
	unsure: number;
	paper: string;
	rows: { name: string; found: string; share: string; paper: string }[];
};
export type SampleData = TaskData & {
	words: { defects: Record<string, string> };
	shares: Shares;
};
