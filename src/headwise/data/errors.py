"""Errors in data files, on one line: where, what is wrong, and what to do."""

from collections.abc import Callable

from headwise.core.errors import HeadwiseError

CODES = {
    # The file as bytes and characters.
    "HW101": "the file cannot be opened",
    "HW102": "a compressed file, a workbook or a Parquet file is damaged or cut short",
    "HW103": "there is nothing to read in the file",
    "HW104": "a file of another kind, or an archive that does not hold exactly one file that can be read",
    "HW105": "a byte or character does not belong to the encoding",
    "HW106": "a NUL character: not text, or text in another encoding",
    "HW107": "a line is longer than any text",
    "HW108": "lines end with carriage returns alone",
    "HW109": "a library that reads files of this kind is not installed",
    # One record.
    "HW110": "a row has more or fewer fields than the others",
    "HW111": "a requested column does not exist",
    "HW112": "a column name occurs twice",
    "HW113": "a header without rows",
    "HW114": "a quoted field is not closed, or goes on after its closing quote",
    "HW115": "a line is not valid JSON",
    "HW116": "a line of JSON is not an object",
    "HW117": "a JSON object lacks a field",
    "HW118": "a text is not a string",
    "HW119": "a tree's brackets do not fit together",
    "HW120": "a label is missing or empty",
    "HW121": "a line has several labels",
    "HW122": "a tree has a label other than 0 to 4",
    "HW123": "a label in a list is not a text",
    "HW124": "a multi-hot cell is neither yes nor no",
    "HW125": "probabilities of labels that are none, or do not add up to 1",
    "HW126": "a weight that is none",
    "HW127": "a list of lines to leave out or to weigh is of another file",
    "HW128": "formulas of a workbook have no values",
    "HW129": "a header of other columns in the middle of a table",
    # The file as a whole.
    "HW130": "the format cannot be guessed",
    "HW131": "the columns cannot be guessed",
    "HW140": "a label does not occur in the training data",
    "HW141": "there are too few texts to split",
    "HW142": "there are more or fewer parses than texts",
    # Columns beside the text.
    "HW145": "a cell of a column beside the text has not its type",
    "HW146": "the type of a column beside the text cannot be guessed",
    "HW147": "a column that a model was trained on beside the text is missing",
    # Texts for language modelling.
    "HW280": "a character, word or byte that the vocabulary does not have",
    "HW281": "a vocabulary that cannot be read",
    "HW282": "a text has not the size of its parts, or is too short for them",
    "HW283": "a table where plain text is read",
    # Text pairs and numbers.
    "HW285": "the columns of a pair's texts or of its label cannot be guessed",
    "HW286": "aligned files have different numbers of lines",
    "HW287": "a score is not a number",
    # Bags of instances.
    "HW290": "a feature of an instance is not a finite number",
    "HW291": "an instance has more or fewer columns than the others",
    "HW292": "a bag has two labels",
    "HW293": "the columns are not those of bags, or not those that a model was trained on",
    # Findings of the doctor; they are reported, never raised.
    "HW150": "empty texts",
    "HW151": "very short texts",
    "HW152": "very long texts",
    "HW153": "duplicate texts",
    "HW154": "duplicate texts with different labels",
    "HW155": "classes with too few texts",
    "HW156": "labels that differ in how they are written only",
    "HW157": "control characters",
    "HW158": "remains of HTML",
    "HW159": "wrongly decoded characters",
    "HW160": "texts that occur in two files, as they are or nearly",
    "HW161": "labels that the training data lacks",
    "HW162": "only one class",
    "HW163": "no labels",
    "HW164": "pairs with another label the other way round",
    "HW165": "one text of the pairs gives the label away",
    "HW166": "pairs of two files with the same first text",
    "HW167": "labels that always stand together",
    "HW168": "texts without a label",
    "HW169": "empty or repeated labels in a cell or list",
    "HW170": "a word, character or form of texts that nearly decides a label",
    "HW171": "labels that are unlikely by their own probability",
    "HW172": "weights of which few decide, or many are 0",
    "HW173": "many texts that are nearly others",
    "HW174": "numbers far from all others",
    "HW175": "a label in place of none",
    "HW176": "invisible characters within words",
    "HW177": "labels that hold the first word of a text",
    "HW181": "a column beside the text is constant",
    "HW182": "a column beside the text nearly decides the label",
    "HW183": "a column beside the text has a category of its own in nearly each row",
    "HW295": "features that do not vary",
    "HW296": "no bag has more than one instance",
}

NO_LABEL_CODES = ("HW130", "HW131", "HW285")
"""Codes of the errors that no labels can be found."""


class DataError(HeadwiseError):
    """Something in a data file that headwise cannot use.

    Attributes:
        code: One of `CODES`.
        path: The file as the user named it ("-" is standard input).
        line: The line of the file, from 1, or None where the whole file is meant.
        column: The character of the line, from 1, or None.
        problem: What is wrong.
        expected: What was expected; may be empty.
        advice: What the user can do; may be empty.
    """

    def __init__(
        self,
        code: str,
        problem: str,
        *,
        expected: str = "",
        advice: str = "",
        path: str = "",
        line: int | None = None,
        column: int | None = None,
    ):
        path = getattr(line, "file", path)  # of several files, the one that holds the line
        self.path, self.line, self.column = path, line, column
        self.problem, self.expected, self.advice = problem, expected, advice
        parts = [problem]
        if expected:
            parts.append(f"expected {expected}")
        if advice:
            parts.append(advice)
        place = f"{self.where}: " if self.where else ""
        super().__init__(place + "; ".join(parts), code=code)

    @property
    def where(self) -> str:
        """`path:line:column`, as far as it is known."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part)


OnError = Callable[[DataError], None]
"""Called with the error of a record that cannot be used: raises it, or notes it so that reading goes on."""


def raise_error(error: DataError) -> None:
    """The default `OnError`: raise the error."""
    raise error
